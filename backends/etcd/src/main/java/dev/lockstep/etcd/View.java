package dev.lockstep.etcd;

import org.jspecify.annotations.Nullable;

/**
 * How a queue stands to a claim in it.
 *
 * @param revision of the store, when this was so
 * @param createRevision when the claim's key was made; 0 if it is not there
 * @param blockers what it waits for; null if nothing, so that it holds the lock
 * @param certain whether there is nothing that could not be seen; if not, a look must follow
 * @param strange whether a stranger's key was in the way, and the whole queue must be looked at
 * @param wanted whether another client's claim waits for it
 * @param heir whether the next claim of a semaphore may hold beside this one, and waits to hear that this one holds
 * @param assumed whether it was concluded from the end of all blockers, and has to be verified
 */
record View(
        long revision,
        long createRevision,
        @Nullable Blockers blockers,
        boolean certain,
        boolean strange,
        boolean wanted,
        boolean heir,
        boolean assumed) {
    static View of(long revision, long createRevision, @Nullable Blockers blockers) {
        return new View(revision, createRevision, blockers, true, false, false, false, false);
    }

    /** There is more than could be seen. */
    static View crowded(long revision, long createRevision) {
        return new View(revision, createRevision, null, false, false, false, false, false);
    }

    /** A stranger's key was in the way. */
    static View strange(long revision, long createRevision) {
        return new View(revision, createRevision, null, false, true, false, false, false);
    }

    /** All that the claim has waited for has gone. */
    static View assumed(long revision, long createRevision) {
        return new View(revision, createRevision, null, true, false, false, false, true);
    }

    View wanted(boolean isWanted) {
        return new View(revision, createRevision, blockers, certain, strange, isWanted, heir, assumed);
    }

    View heir(boolean hasHeir) {
        return new View(revision, createRevision, blockers, certain, strange, wanted, hasHeir, assumed);
    }

    boolean isPresent() {
        return createRevision != 0;
    }
}
