package dev.lockstep.redis;

/** The state of a claim. {@link RedisClaim} makes the transitions. */
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
}
