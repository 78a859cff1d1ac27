package dev.lockstep.redis;

/**
 * What the server says to a claim.
 *
 * @param kind what it says
 * @param token the token, if granted
 * @param wanted whether another client waits, if granted
 * @param freeInMillis when the lock may become free by itself, if waiting; negative if unknown
 */
record Answer(Kind kind, long token, boolean wanted, long freeInMillis) {
    enum Kind {
        GRANTED,
        WAITING,
        BUSY,
        /** The claim is not known: it has to ask again. */
        MISSING,
        /** Granted, but too few replicas have confirmed it: to be given back. */
        UNREPLICATED,
        /** The claim was given up before this request arrived. */
        GIVEN_UP
    }

    static final Answer BUSY = new Answer(Kind.BUSY, 0, false, -1);
    static final Answer MISSING = new Answer(Kind.MISSING, 0, false, -1);
    static final Answer UNREPLICATED = new Answer(Kind.UNREPLICATED, 0, false, -1);
    static final Answer GIVEN_UP = new Answer(Kind.GIVEN_UP, 0, false, -1);

    static Answer granted(long token, boolean wanted) {
        return new Answer(Kind.GRANTED, token, wanted, -1);
    }

    static Answer waiting(long freeInMillis) {
        return new Answer(Kind.WAITING, 0, false, freeInMillis);
    }
}
