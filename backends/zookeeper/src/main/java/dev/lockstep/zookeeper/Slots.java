package dev.lockstep.zookeeper;

import dev.lockstep.LockLostException;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.LossReason;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/**
 * Finds slots for a grant of a semaphore: reads the {@link SlotTable} and the queue, and writes the table if it has not
 * changed and the grant's node is still there. Works on the session's event thread.
 */
final class Slots {
    /** The server takes a megabyte at most, unless it was set otherwise. */
    private static final int MOST_BYTES = 512 * 1024;

    private final ClaimNode node;
    private final ClaimKind kind;
    private final long token;
    private final CompletableFuture<List<Integer>> found;
    private @Nullable SlotTable table; // as it was read last, as the next; null if that failed
    private int version;

    private Slots(ClaimNode node, long token, CompletableFuture<List<Integer>> found) {
        this.node = node;
        this.kind = ClaimKind.of(node.request());
        this.token = token;
        this.found = found;
    }

    /** Finds the slots; fails if this is no grant of a semaphore, or it has ended. */
    static void find(ClaimNode node, long token, CompletableFuture<List<Integer>> found) {
        Slots slots = new Slots(node, token, found);
        if (slots.kind.isSemaphore()) {
            slots.read();
        } else {
            found.completeExceptionally(new UnsupportedOperationException("This grant has no slots."));
        }
    }

    /**
     * Reads the table before the queue: each owner had its node when it wrote the table, so an owner without one has gone.
     */
    private void read() {
        if (found.isDone()) {
            return;
        }
        node.link().data(node.lockPath(), false, (code, bytes, stat) -> {
            table = code == Code.OK ? SlotTable.parse(bytes) : null;
            version = stat.getVersion();
            if (code != Code.OK) {
                notAnswered(code);
            }
        });
        node.link().children(node.lockPath(), false, (code, names) -> {
            SlotTable known = table;
            if (known != null) {
                listed(code, known, names);
            }
        });
    }

    private void listed(Code code, SlotTable known, List<String> names) {
        if (code == Code.OK) {
            choose(known, names);
        } else {
            notAnswered(code);
        }
    }

    private void choose(SlotTable current, List<String> names) {
        List<Integer> known = current.of(node.key());
        if (!known.isEmpty()) {
            found.complete(known);
            return;
        }
        Set<String> alive =
                QueueNode.queue(names, Map.of()).stream().map(QueueNode::key).collect(Collectors.toSet());
        if (!alive.contains(node.key())) {
            gone();
            return;
        }
        SlotTable next = current.with(kind, token, node.key(), alive);
        if (next == null) {
            node.link().sync(code -> readAgain(code)); // the server was behind
            return;
        }
        byte[] bytes = next.bytes();
        if (bytes.length > MOST_BYTES) {
            fail("more permits are held, and have asked for their slots, than ZooKeeper can store.");
            return;
        }
        node.link().setData(node.path(), node.lockPath(), bytes, version, code -> {
            if (code == Code.OK) {
                found.complete(next.of(node.key()));
            } else {
                readAgain(code == Code.BADVERSION ? Code.OK : code);
            }
        });
    }

    private void readAgain(Code code) {
        if (code == Code.OK) {
            read();
        } else {
            notAnswered(code);
        }
    }

    private void notAnswered(Code code) {
        if (Failure.mayRetry(code)) {
            node.session().retry(code, this::read);
        } else if (code == Code.NONODE) {
            gone();
        } else if (Failure.isEnd(code)) {
            fail("the session has ended before the slots of the permit were known.");
        } else {
            String name = node.request().name();
            found.completeExceptionally(node.session().failure(name, "find slots in", node.lockPath(), code));
        }
    }

    /** The grant's node is not there any more. */
    private void gone() {
        if (!node.isOver()) {
            node.nodeGone();
        }
        String name = node.request().name();
        String address = node.claim().backend().address();
        found.completeExceptionally(new LockLostException(name, LossReason.REVOKED, address));
    }

    private void fail(String why) {
        String name = node.request().name();
        found.completeExceptionally(new LockUnavailableException(name, "Semaphore '" + name + "': " + why));
    }
}
