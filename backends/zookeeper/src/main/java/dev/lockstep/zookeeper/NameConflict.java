package dev.lockstep.zookeeper;

import dev.lockstep.spi.Limits;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.KeeperException.Code;

/**
 * A claim for a lock that finds a semaphore of its name, or the other way round, or one with another number of permits. Works
 * on the session's event thread.
 */
final class NameConflict {
    /*
     * Overview. The first node of a queue says what the name is used for, and a claim that does not agree with it is refused.
     * The first may be such a claim itself, if those before it have just gone. It is deleted within a round trip. So a claim
     * that finds itself in conflict deletes its node, then looks again: it is refused if the first node still disagrees, and
     * otherwise makes another node. A claim that agrees with the first node and finds another kind between them waits until
     * that is gone, as it does with all that is in its way.
     */
    private final ClaimNode node;
    private final CompletableFuture<Boolean> removed;

    private NameConflict(ClaimNode node) {
        this.node = node;
        this.removed = node.abandon();
    }

    /** Deletes a claim's node, and then refuses the claim or lets it ask again. */
    static void resolve(ClaimNode node) {
        NameConflict conflict = new NameConflict(node);
        conflict.removed.whenComplete((done, error) -> conflict.look());
    }

    private void look() {
        node.link().children(node.lockPath(), false, (code, names) -> {
            if (code == Code.OK || code == Code.NONODE) {
                judge(QueueNode.queue(names, Map.of()));
            } else if (Failure.mayRetry(code)) {
                node.session().retry(code, this::look);
            } else if (!Failure.isEnd(code)) { // at the session's end it asks again by itself
                node.fail("read", node.lockPath(), code);
            }
        });
    }

    private void judge(List<QueueNode> queue) {
        ZooKeeperClaim claim = node.claim();
        ClaimKind kind = ClaimKind.of(node.request());
        boolean mixed = queue.stream().anyMatch(other -> !kind.agreesWith(other.kind()));
        if (!mixed) {
            claim.askAgain(node);
        } else if (!kind.agreesWith(queue.get(0).kind())) {
            String name = node.request().name();
            claim.fail(
                    null,
                    Limits.conflict(name, kind.limit(), queue.get(0).kind().limit()));
        } else if (kind.waits()) {
            claim.askAgain(node);
        } else {
            claim.busy(node, removed);
        }
    }
}
