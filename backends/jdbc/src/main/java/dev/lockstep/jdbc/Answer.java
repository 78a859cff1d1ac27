package dev.lockstep.jdbc;

import java.util.List;

/**
 * The database's answer to a claim.
 *
 * @param kind the kind of answer
 * @param token if granted, the token
 * @param wanted if granted, whether another client waits
 * @param slots if granted, the slots; none of a lock
 * @param limit if refused, how many permits the name has; 0 for a lock
 * @param place if it waits, where in the queue
 */
record Answer(Kind kind, long token, boolean wanted, List<Integer> slots, int limit, Place place) {
    enum Kind {
        GRANTED,
        WAITING,
        BUSY,
        /** The name is used in another way: as a lock, or as a semaphore of so many permits. */
        REFUSED
    }

    /**
     * A place in a queue.
     *
     * @param ticket by which the queue is ordered; 0 if it is not known
     * @param ahead how many waited before the claim when it asked
     */
    record Place(long ticket, long ahead) {
        static final Place UNKNOWN = new Place(0, 0);
    }

    static final Answer WAITING = waiting(Place.UNKNOWN);
    static final Answer BUSY = new Answer(Kind.BUSY, 0, false, List.of(), 0, Place.UNKNOWN);

    static Answer waiting(Place place) {
        return new Answer(Kind.WAITING, 0, false, List.of(), 0, place);
    }

    static Answer granted(long token, boolean wanted) {
        return granted(token, wanted, List.of());
    }

    static Answer granted(long token, boolean wanted, List<Integer> slots) {
        return new Answer(Kind.GRANTED, token, wanted, slots, 0, Place.UNKNOWN);
    }

    static Answer refused(int limit) {
        return new Answer(Kind.REFUSED, 0, false, List.of(), limit, Place.UNKNOWN);
    }
}
