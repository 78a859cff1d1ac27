package dev.lockstep.zookeeper;

import dev.lockstep.LockMode;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A node's place in its queue, as it was last listed: the nodes in its way, and those in whose way it is. Used by one
 * thread.
 */
final class QueueView {
    /*
     * Overview. Of a lock, a writer is in the way of all behind it, and a reader in that of writers.
     *
     * Of a semaphore, a claim holds if its permits and those of all nodes before it are no more than the limit. No node
     * comes before it later, so a holder stays a holder, and claims are granted in the order of their tokens. One that
     * must wait looks at the node before it:
     *
     *   it does not fit beside this one       waits until that node is gone; of a semaphore with one permit, as of a lock
     *   it waits itself                       waits until that node is gone, or says that it holds now (QueueRecipe.touch)
     *   it holds                              this one is the first that waits, and watches all that hold
     *
     * A node of another kind, such as a lock's among those of a semaphore, is in the way of all behind it (NameConflict).
     */
    private static final int NOBODY = -1;

    private final ClaimKind kind;
    private final Set<String> downgraded = new HashSet<>(); // writers by name that have become readers
    private final Set<String> touched = new HashSet<>(); // claims of a semaphore by name that have said that they hold
    private final Map<String, Long> ages = new HashMap<>(); // of nodes whose numbers do not show their place
    private List<QueueNode> queue = List.of();
    private int own = NOBODY;

    QueueView(ClaimKind kind) {
        this.kind = kind;
    }

    /** Takes a new list of the queue. */
    void list(List<String> names, String ownName) {
        queue = QueueNode.queue(names, ages);
        own = QueueNode.indexOf(queue, ownName);
    }

    /** Notes the transaction id of a node whose number does not show its place. */
    void age(String name, long transaction) {
        ages.put(name, transaction);
    }

    /** Notes that a writer has become a reader; false if that was known. */
    boolean downgraded(String name) {
        return downgraded.add(name);
    }

    /** Notes that a claim of a semaphore has said that it holds; false if that was known. */
    boolean touched(String name) {
        return touched.add(name);
    }

    /** Whether the node itself was in the list. */
    boolean isListed() {
        return own >= 0;
    }

    /** Whether nobody was before the node, which is listed. */
    boolean isFirst() {
        return own == 0;
    }

    /** The nodes whose age must be known before this place can be known. */
    List<String> unknownAges(long ownAge) {
        if (!isListed() || queue.get(own).isCounted()) {
            return List.of();
        }
        age(queue.get(own).name(), ownAge);
        return queue.stream()
                .filter(node -> !node.isCounted() && !ages.containsKey(node.name()))
                .map(QueueNode::name)
                .toList();
    }

    /** Whether this claim may be the one that uses the name for something else; see {@link NameConflict}. */
    boolean isDoubtful() {
        return !kind.agreesWith(kind(0)) || !kind.waits() && isMixed(own);
    }

    /** Whether one of the first nodes uses the name for something else. */
    private boolean isMixed(int places) {
        return queue.subList(0, places).stream().anyMatch(node -> !kind.agreesWith(node.kind()));
    }

    boolean isBlocked() {
        return kind.isSemaphore() ? mustWait(own) : blockerOf(own) >= 0;
    }

    /** The node in the way; null if all holders of a semaphore are, and the end of one is enough. */
    @Nullable
    String blocker() {
        int blocker = blockerOf(own);
        return blocker < 0 ? null : queue.get(blocker).name();
    }

    /** Whether nothing is in the way once the blocker is gone. */
    boolean isBlockerTheOnly() {
        int blocker = blockerOf(own);
        return kind.isSemaphore() ? blocker == 0 && !mayHoldBesideOthers() : blockerOf(blocker) < 0;
    }

    /** Whether the blocker is in the way only until it holds. */
    boolean fitsBesideBlocker() {
        int blocker = blockerOf(own);
        return blocker >= 0 && kind.fitsBeside(kind(blocker));
    }

    private boolean mayHoldBesideOthers() {
        return kind.permits() < kind.limit().orElse(0);
    }

    /** Whether the claim behind this one waits until this one says that it holds. */
    boolean isAwaitedByNext() {
        int next = own + 1;
        return isListed() && next < queue.size() && kind(next).waits() && kind.fitsBeside(kind(next));
    }

    /** The node in the way of a place: the one before it, or for a reader the last writer before it. */
    private int blockerOf(int place) {
        int before = place - 1;
        if (kind.isSemaphore() && before >= 0) {
            boolean holds =
                    !mustWait(before) || touched.contains(queue.get(before).name());
            return holds && kind.fitsBeside(kind(before)) ? NOBODY : before;
        }
        while (kind.mode() == LockMode.SHARED && before >= 0 && !isInTheWayOfReaders(queue.get(before))) {
            before--;
        }
        return before;
    }

    private boolean isInTheWayOfReaders(QueueNode node) {
        return node.kind().isSemaphore() || node.kind().isWriter() && !downgraded.contains(node.name());
    }

    /** Whether a place of a semaphore has no permits yet. */
    private boolean mustWait(int place) {
        long taken = queue.subList(0, place + 1).stream()
                .mapToLong(node -> node.kind().permits())
                .sum();
        return taken > kind.limit().orElse(0) || isMixed(place + 1);
    }

    private ClaimKind kind(int place) {
        return queue.get(place).kind();
    }

    /** Whether another client waits behind a holder of this mode, and because of it. */
    boolean isWanted(LockMode held, String clientId) {
        for (QueueNode node : queue.subList(own + 1, queue.size())) {
            boolean blocked = held == LockMode.EXCLUSIVE || node.kind().isWriter();
            if (blocked && node.kind().waits() && !node.isOf(clientId)) {
                return true;
            }
        }
        return false;
    }
}
