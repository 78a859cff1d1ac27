package dev.lockstep.zookeeper;

import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import dev.lockstep.LossReason;
import dev.lockstep.spi.AbstractGrant;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/** A lock that this client has, by a node that is first. Valid as long as its session is. Safe for use by many threads. */
final class ZooKeeperGrant extends AbstractGrant {
    private final ClaimNode node;
    private volatile LockMode mode;
    private volatile boolean revoked;
    private LockMode sentMode; // what the node says, or will say soon; guarded by this, as the next two
    private Optional<LockInfo.Wait> wait = Optional.empty();
    private @Nullable CompletableFuture<List<Integer>> slots;

    ZooKeeperGrant(ClaimNode node, long token, LockMode mode) {
        super(node.request().listener(), token, 0);
        this.node = node;
        this.mode = mode;
        this.sentMode = mode;
    }

    LockMode mode() {
        return mode;
    }

    /** Whether the node is known to be gone. */
    boolean isRevoked() {
        return revoked;
    }

    void revoke(LossReason reason) {
        revoked = true;
        signalLost(reason);
    }

    @Override
    public long validUntilNanos() {
        return node.session().validUntilNanos();
    }

    @Override
    public CompletionStage<Boolean> release(Duration blockAtMost) {
        CompletableFuture<Boolean> removed = node.abandon();
        ZooKeeperBackend.await(removed, blockAtMost);
        return removed;
    }

    // ---------------------------------------------------------------- what its node says

    @Override
    public CompletionStage<Boolean> downgrade() {
        CompletableFuture<Boolean> done = new CompletableFuture<>();
        downgrade(done);
        return done;
    }

    /** Writes the new mode into the node, whose watchers then look at it again. */
    private void downgrade(CompletableFuture<Boolean> done) {
        synchronized (this) {
            sentMode = LockMode.SHARED;
            write(code -> downgraded(code, done));
        }
    }

    private void downgraded(Code code, CompletableFuture<Boolean> done) {
        if (code == Code.OK) {
            mode = LockMode.SHARED;
            done.complete(true);
        } else if (Failure.mayRetry(code)) {
            node.session().retry(code, () -> downgrade(done));
        } else {
            synchronized (this) {
                sentMode = mode;
            }
            done.complete(false);
        }
    }

    /** Writes the node as it is, so that the claim behind it looks again. */
    void touch() {
        if (node.isOver()) {
            return; // its waiters are notified of that
        }
        write(code -> {
            if (Failure.mayRetry(code)) {
                node.session().retry(code, this::touch);
            }
        });
    }

    /** Without a queue, the node of the next holder has the same path, and ZooKeeper cannot compare which of them it writes. */
    @Override
    public CompletionStage<Boolean> recordWait(Optional<LockInfo.Wait> other) {
        if (!node.claim().backend().isQueued()) {
            return CompletableFuture.completedFuture(false);
        }
        CompletableFuture<Boolean> done = new CompletableFuture<>();
        synchronized (this) {
            wait = other;
            write(code -> {
                if (code == Code.OK || code == Code.NONODE || Failure.isEnd(code)) {
                    done.complete(code == Code.OK);
                } else {
                    String name = node.request().name();
                    done.completeExceptionally(node.session().failure(name, "write", node.path(), code));
                }
            });
        }
        return done;
    }

    /** Writes all of the node's data. The server carries out requests in the order in which they are sent from here. */
    private synchronized void write(Consumer<Code> reply) {
        node.link().setData(node.path(), node.data(sentMode).with(wait).bytes(), reply);
    }

    // ---------------------------------------------------------------- slots

    @Override
    public CompletionStage<List<Integer>> slots() {
        CompletableFuture<List<Integer>> found;
        synchronized (this) {
            found = slots;
            if (found != null && !found.isCompletedExceptionally()) {
                return found;
            }
            found = new CompletableFuture<>();
            slots = found;
        }
        Slots.find(node, token(), found);
        return node.claim().backend().bounded(found, node.request().name(), "find slots");
    }
}
