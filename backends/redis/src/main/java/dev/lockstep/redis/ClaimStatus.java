package dev.lockstep.redis;

/** The state of a claim. Only this class says which state may follow which. */
enum ClaimStatus {
    /** No request is on its way; the next is scheduled. */
    READY,
    /** A request is on its way. */
    ASKING,
    /** The server has it in its queue. */
    WAITING,
    /** Withdrawn; a request is on its way, and a lock that it gets must be released. */
    LEAVING,
    /** Granted, busy or failed. */
    SETTLED,
    /** Withdrawn; its hold or place on the server, if any, is being released. */
    WITHDRAWN;

    /** Whether the claim asks for nothing any more. */
    boolean isOver() {
        return this == LEAVING || this == SETTLED || this == WITHDRAWN;
    }

    /** Whether it may follow. A client that closes settles every claim, so {@code SETTLED} always may. */
    boolean mayBecome(ClaimStatus next) {
        return switch (next) {
            case READY -> this == ASKING || this == WAITING;
            case ASKING -> this == READY;
            case WAITING, LEAVING -> this == ASKING;
            case SETTLED -> true;
            case WITHDRAWN -> this != ASKING;
        };
    }
}
