package dev.lockstep.jdbc;

/**
 * What the database says to a claim.
 *
 * @param kind what
 * @param token if granted, the token
 * @param wanted if granted, whether another client waits
 */
record Answer(Kind kind, long token, boolean wanted) {
    enum Kind {
        GRANTED,
        WAITING,
        BUSY
    }

    static final Answer WAITING = new Answer(Kind.WAITING, 0, false);
    static final Answer BUSY = new Answer(Kind.BUSY, 0, false);

    static Answer granted(long token, boolean wanted) {
        return new Answer(Kind.GRANTED, token, wanted);
    }
}
