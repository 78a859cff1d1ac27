package dev.lockstep.spi;

/**
 * The state of a claim that makes one request at a time: for backends whose claims ask, rest until something happens,
 * and ask again. Each method returns the next state; its user guards the state with its own monitor.
 */
public enum ClaimState {
    /** No request is pending. */
    RESTING,
    /** A request is pending. */
    ASKING,
    /** A request is pending, and something has happened meanwhile: another one follows. */
    ASKING_AGAIN,
    /** Withdrawn; a request is pending, and the claim leaves the engine when it has ended. */
    LEAVING,
    /** Granted, busy or failed. */
    SETTLED,
    /** Withdrawn; its record in the engine, if there is one, is being removed. */
    WITHDRAWN;

    /**
     * Returns whether a request is pending for a claim that may still be granted.
     *
     * @return true if so
     */
    public boolean isAsking() {
        return this == ASKING || this == ASKING_AGAIN;
    }

    /**
     * Returns whether the claim may still be granted.
     *
     * @return true until it is settled or withdrawn
     */
    public boolean isOpen() {
        return this == RESTING || isAsking();
    }

    /**
     * A new request is needed.
     *
     * @return the same state if the claim is no longer open, so that there will be no request
     */
    public ClaimState asked() {
        return this == RESTING ? ASKING : isAsking() ? ASKING_AGAIN : this;
    }

    /**
     * The pending request has ended, and did not settle the claim.
     *
     * @return {@code RESTING}, or {@code WITHDRAWN} if the claim is to leave now
     */
    public ClaimState rested() {
        return isAsking() ? RESTING : this == LEAVING ? WITHDRAWN : this;
    }

    /**
     * The claim has its answer, or has failed.
     *
     * @return the same state if it was not open
     */
    public ClaimState settled() {
        return isOpen() ? SETTLED : this;
    }

    /**
     * The claim is withdrawn.
     *
     * @return {@code LEAVING} while a request is pending, else {@code WITHDRAWN}: then the claim leaves now
     */
    public ClaimState withdrawn() {
        return isAsking() || this == LEAVING ? LEAVING : WITHDRAWN;
    }
}
