package dev.lockstep.etcd;

import java.util.Optional;

/**
 * The queue as seen by one of its claims. Immutable.
 *
 * @param revision of the store, when this was so
 * @param createRevision when the claim's key was made; 0 if it is not there
 * @param standing where the claim stands
 * @param blockers what it waits for, if and only if it is blocked
 * @param wanted whether another client's claim waits for it
 * @param heir whether the next claim of a semaphore may hold beside this one, and waits for the announcement that this
 *     one holds
 */
record View(
        long revision,
        long createRevision,
        Standing standing,
        Optional<Blockers> blockers,
        boolean wanted,
        boolean heir) {
    /** Where a claim stands in its queue. */
    enum Standing {
        /** Nothing is in its way. */
        HOLDS,
        /** All claims that it waited for have gone. So it is taken to hold, which has to be verified. */
        SHOULD_HOLD,
        /** It waits for others. */
        BLOCKED,
        /** There is more than could be seen: a look must follow. */
        CROWDED,
        /** A stranger's key was in the way: the whole queue must be looked at. */
        STRANGE
    }

    private static View of(long revision, long createRevision, Standing standing) {
        return new View(revision, createRevision, standing, Optional.empty(), false, false);
    }

    /** Nothing is in its way. */
    static View holds(long revision, long createRevision) {
        return of(revision, createRevision, Standing.HOLDS);
    }

    /** It waits for others. */
    static View blocked(long revision, long createRevision, Blockers blockers) {
        return new View(revision, createRevision, Standing.BLOCKED, Optional.of(blockers), false, false);
    }

    /** It waits for others, if there are any. */
    static View of(long revision, long createRevision, Optional<Blockers> blockers) {
        return blockers.map(others -> blocked(revision, createRevision, others))
                .orElseGet(() -> holds(revision, createRevision));
    }

    /** There is more than could be seen. */
    static View crowded(long revision, long createRevision) {
        return of(revision, createRevision, Standing.CROWDED);
    }

    /** A stranger's key was in the way. */
    static View strange(long revision, long createRevision) {
        return of(revision, createRevision, Standing.STRANGE);
    }

    /** All claims that this one waited for have gone. */
    static View shouldHold(long revision, long createRevision) {
        return of(revision, createRevision, Standing.SHOULD_HOLD);
    }

    View wanted(boolean isWanted) {
        return new View(revision, createRevision, standing, blockers, isWanted, heir);
    }

    View heir(boolean hasHeir) {
        return new View(revision, createRevision, standing, blockers, wanted, hasHeir);
    }

    boolean isPresent() {
        return createRevision != 0;
    }

    /** Whether it was concluded that the claim holds, which has to be verified. */
    boolean assumed() {
        return standing == Standing.SHOULD_HOLD;
    }

    /** Whether everything was seen, so that no look need follow. */
    boolean isCertain() {
        return standing != Standing.CROWDED && standing != Standing.STRANGE;
    }
}
