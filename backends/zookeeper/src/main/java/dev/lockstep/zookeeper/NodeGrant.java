package dev.lockstep.zookeeper;

import dev.lockstep.LockMode;
import dev.lockstep.LossReason;
import dev.lockstep.spi.AbstractGrant;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.zookeeper.KeeperException.Code;

/** A lock that this client has, by a node that is first. Valid as long as its session is. Safe for use by many threads. */
final class NodeGrant extends AbstractGrant {
    private final Attempt attempt;
    private volatile LockMode mode;
    private volatile boolean revoked;

    NodeGrant(Attempt attempt, long token, LockMode mode) {
        super(attempt.request().listener(), token, 0);
        this.attempt = attempt;
        this.mode = mode;
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
        return attempt.session().validUntilNanos();
    }

    @Override
    public CompletionStage<Boolean> release(Duration blockAtMost) {
        CompletableFuture<Boolean> removed = attempt.abandon();
        ZooKeeperBackend.await(removed, blockAtMost);
        return removed;
    }

    @Override
    public CompletionStage<Boolean> downgrade() {
        CompletableFuture<Boolean> done = new CompletableFuture<>();
        downgrade(done);
        return done;
    }

    /** Writes the new mode into the node, whose watchers then look at it again. */
    private void downgrade(CompletableFuture<Boolean> done) {
        attempt.requests().setData(attempt.path(), attempt.data(LockMode.SHARED).bytes(), code -> {
            if (code == Code.OK) {
                mode = LockMode.SHARED;
                done.complete(true);
            } else if (Replies.mayRetry(code)) {
                attempt.session().retry(code, () -> downgrade(done));
            } else {
                done.complete(false);
            }
        });
    }
}
