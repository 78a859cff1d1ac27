package dev.lockstep.spi;

/**
 * Where a claim is that makes one request at a time: for backends whose claims ask, rest until something happens, and ask
 * again. Each method tells what follows; whoever uses it keeps the state under its own monitor.
 */
public enum ClaimState {
    /** No request is on its way. */
    RESTING,
    /** A request is on its way. */
    ASKING,
    /** A request is on its way, and something has happened meanwhile: another one follows. */
    ASKING_AGAIN,
    /** Withdrawn; a request is on its way, and the claim leaves the engine when it has ended. */
    LEAVING,
    /** Granted, busy or failed. */
    SETTLED,
    /** Withdrawn; what the engine may have of it is being removed. */
    WITHDRAWN;

    /**
     * Tells whether a request is on its way for a claim that may still be granted.
     *
     * @return true if so
     */
    public boolean isAsking() {
        return this == ASKING || this == ASKING_AGAIN;
    }

    /**
     * Tells whether the claim may still be granted.
     *
     * @return true until it is settled or withdrawn
     */
    public boolean isOpen() {
        return this == RESTING || isAsking();
    }

    /**
     * Something has happened that calls for a request.
     *
     * @return the same if there will be none, because the claim is not open
     */
    public ClaimState asked() {
        return this == RESTING ? ASKING : isAsking() ? ASKING_AGAIN : this;
    }

    /**
     * The request that was on its way has ended, and did not settle the claim.
     *
     * @return {@code RESTING}, or {@code WITHDRAWN} if the claim is to leave now
     */
    public ClaimState rested() {
        return isAsking() ? RESTING : this == LEAVING ? WITHDRAWN : this;
    }

    /**
     * The claim has its answer, or has failed.
     *
     * @return the same if it was not open
     */
    public ClaimState settled() {
        return isOpen() ? SETTLED : this;
    }

    /**
     * Nobody wants the lock any more.
     *
     * @return {@code LEAVING} while a request is on its way, else {@code WITHDRAWN}: then the claim leaves now
     */
    public ClaimState withdrawn() {
        return isAsking() || this == LEAVING ? LEAVING : WITHDRAWN;
    }
}
