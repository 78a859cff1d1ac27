package dev.lockstep.redis;

/** Where a claim stands. What moves it is in {@link RedisClaim}. */
enum ClaimStatus {
    /** No request is on its way; the next is scheduled. */
    READY,
    /** A request is on its way. */
    ASKING,
    /** The server has it in its queue. */
    WAITING,
    /** Withdrawn; a request is on its way, and what it brings must be released. */
    LEAVING,
    /** Granted, busy or failed. */
    SETTLED,
    /** Withdrawn; what it may have at the server is being released. */
    WITHDRAWN;

    /** Whether the claim asks for nothing any more. */
    boolean isOver() {
        return this == LEAVING || this == SETTLED || this == WITHDRAWN;
    }
}
