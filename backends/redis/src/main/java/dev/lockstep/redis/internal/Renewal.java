package dev.lockstep.redis.internal;

/** A server's answer about a grant that it was asked to prolong. */
public enum Renewal {
    /** The server does not know it any more. */
    LOST,
    KEPT,
    /** Kept, and another client waits for the lock. */
    WANTED;

    /** Understands the number in a script's answer. */
    public static Renewal of(Object number) {
        return values()[Math.toIntExact((Long) number)];
    }
}
