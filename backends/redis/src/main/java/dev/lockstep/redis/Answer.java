package dev.lockstep.redis;

import java.util.OptionalInt;

/**
 * The server's answer to a claim.
 *
 * @param kind what it says
 * @param token the token, if granted
 * @param wanted whether another client waits, if granted
 * @param freeInMillis when the lock may become free by itself, if waiting; negative if unknown
 * @param limit how many permits the name has for others, if there is a conflict; empty if it is a lock
 */
record Answer(Kind kind, long token, boolean wanted, long freeInMillis, OptionalInt limit) {
    enum Kind {
        GRANTED,
        WAITING,
        BUSY,
        /** The claim is not known: it has to ask again. */
        MISSING,
        /** Granted, but too few replicas have confirmed it: must be released. */
        UNREPLICATED,
        /** The claim was given up before this request arrived. */
        GIVEN_UP,
        /** Others use the name as something else. */
        CONFLICT
    }

    static final Answer BUSY = new Answer(Kind.BUSY, 0, false, -1, OptionalInt.empty());
    static final Answer MISSING = new Answer(Kind.MISSING, 0, false, -1, OptionalInt.empty());
    static final Answer UNREPLICATED = new Answer(Kind.UNREPLICATED, 0, false, -1, OptionalInt.empty());
    static final Answer GIVEN_UP = new Answer(Kind.GIVEN_UP, 0, false, -1, OptionalInt.empty());

    /** The name has so many permits for others; 0 if it is a lock. */
    static Answer conflict(int limit) {
        return new Answer(Kind.CONFLICT, 0, false, -1, limit > 0 ? OptionalInt.of(limit) : OptionalInt.empty());
    }

    static Answer granted(long token, boolean wanted) {
        return new Answer(Kind.GRANTED, token, wanted, -1, OptionalInt.empty());
    }

    static Answer waiting(long freeInMillis) {
        return new Answer(Kind.WAITING, 0, false, freeInMillis, OptionalInt.empty());
    }
}
