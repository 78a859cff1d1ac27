package dev.lockstep.zookeeper;

import dev.lockstep.LockMode;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A node's place in its queue, as it was last listed: who is in its way, and in whose way it is. Used by one thread. */
final class Place {
    private final LockMode mode;
    private final Set<String> downgraded = new HashSet<>(); // writers by name that have become readers
    private final Map<String, Long> ages = new HashMap<>(); // of nodes whose numbers do not tell their place
    private List<QueueNode> queue = List.of();
    private int own = -1;

    Place(LockMode mode) {
        this.mode = mode;
    }

    /** Takes a new list of the queue. */
    void list(List<String> names, String ownName) {
        queue = QueueNode.queue(names, ages);
        own = QueueNode.indexOf(queue, ownName);
    }

    /** Notes the transaction id of a node whose number does not tell its place. */
    void age(String name, long transaction) {
        ages.put(name, transaction);
    }

    /** Notes that a writer has become a reader; false if that was known. */
    boolean downgraded(String name) {
        return downgraded.add(name);
    }

    /** Whether the node itself was in the list. */
    boolean isListed() {
        return own >= 0;
    }

    /** Those whose age must be known before this place can be. */
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

    boolean isBlocked() {
        return blockerOf(own) >= 0;
    }

    /** What is in the way. */
    String blocker() {
        return queue.get(blockerOf(own)).name();
    }

    /** Whether nothing is in the way once the blocker is gone. */
    boolean isBlockerTheOnly() {
        return blockerOf(blockerOf(own)) < 0;
    }

    /** What is in the way of a place: the one before it, or for a reader the last writer before it. */
    private int blockerOf(int place) {
        int before = place - 1;
        while (mode == LockMode.SHARED && before >= 0 && !isInTheWayOfReaders(queue.get(before))) {
            before--;
        }
        return before;
    }

    private boolean isInTheWayOfReaders(QueueNode node) {
        return node.isWriter() && !downgraded.contains(node.name());
    }

    /** Whether another client waits behind a holder of this mode, and because of it. */
    boolean isWanted(LockMode held, String clientId) {
        for (QueueNode node : queue.subList(own + 1, queue.size())) {
            boolean blocked = held == LockMode.EXCLUSIVE || node.isWriter();
            if (blocked && node.waits() && !node.isOf(clientId)) {
                return true;
            }
        }
        return false;
    }
}
