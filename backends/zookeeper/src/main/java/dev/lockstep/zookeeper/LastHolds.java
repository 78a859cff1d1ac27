package dev.lockstep.zookeeper;

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The locks that a session held last and released, as far as they are remembered. A claim of the same session that
 * comes directly after such a hold is the first in the queue, and need not list it. Safe for use by many threads.
 */
final class LastHolds {
    /*
     * Why that is certain. No claim was before the last hold when it was granted, none came before it later, and it is
     * deleted. The server numbers the nodes of a queue one after the other. So nobody is before the node with the next
     * number.
     *
     * Unless it is another queue: the server removes an empty one now and then, and the next counts from 0. To come to the
     * same number it takes that many creates, each a transaction of its own. If there were fewer transactions since the
     * last hold was made than the number, it is the same queue. (Lockstep makes one node of a queue in a transaction,
     * and nobody else has business there.)
     */

    /**
     * A hold that nobody shared when it was granted, and which is deleted.
     *
     * @param number its node's number
     * @param transaction the one that made its node
     * @param inARow how many holds before it were of the same session, with no other between
     */
    record Hold(String lockPath, int number, long transaction, int inARow) {
        /** Whether nobody can be before a node. */
        boolean isRightBefore(int nextNumber, long nextTransaction) {
            long transactions = nextTransaction - transaction;
            return nextNumber == number + 1 && transactions > 0 && transactions <= nextNumber;
        }
    }

    /**
     * After how many holds without another client the list of the queue is left out. A list that was left out and is
     * needed costs a round trip.
     */
    private static final int LONE_HOLDS = 8;

    private static final int SLOTS = 1 << 12;

    private final AtomicReferenceArray<@Nullable Hold> slots = new AtomicReferenceArray<>(SLOTS);

    private static int slot(String lockPath) {
        int hash = lockPath.hashCode();
        return (hash ^ hash >>> 16) & SLOTS - 1;
    }

    /** A hold is over; what was in its slot is forgotten. */
    void ended(Hold hold) {
        slots.set(slot(hold.lockPath), hold);
    }

    /** The last hold, for the node that was made next; after that one it proves nothing any more, and is forgotten. */
    @Nullable
    Hold take(String lockPath) {
        Hold hold = last(lockPath);
        return hold != null && slots.compareAndSet(slot(lockPath), hold, null) ? hold : null;
    }

    private @Nullable Hold last(String lockPath) {
        Hold hold = slots.get(slot(lockPath));
        return hold != null && hold.lockPath.equals(lockPath) ? hold : null;
    }

    /** Whether the session has used a lock alone for so long that it is unlikely to find others there. */
    boolean isAlone(String lockPath) {
        Hold hold = last(lockPath);
        return hold != null && hold.inARow >= LONE_HOLDS;
    }
}
