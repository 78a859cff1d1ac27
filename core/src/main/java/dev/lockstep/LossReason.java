package dev.lockstep;

/** Why a hold ended although its holder had not released it. */
public enum LossReason {
    /** The engine did not confirm the hold in time: a pause, a partition, an outage, or a starved process. */
    EXPIRED("the engine did not confirm it in time"),

    /** The engine ended the session that the hold belonged to. */
    SESSION_ENDED("the engine ended the session"),

    /**
     * The engine no longer knows the hold: an operator released it by force, its record was deleted, or the engine
     * lost its data.
     */
    REVOKED("the engine no longer knows it"),

    /** The hold reached the upper bound that {@link LockOptions#maxHold(java.time.Duration)} set. */
    MAX_HOLD_REACHED("its maximum time was reached"),

    /** The client that took it was closed. */
    CLIENT_CLOSED("its client was closed");

    private final String explanation;

    LossReason(String explanation) {
        this.explanation = explanation;
    }

    /**
     * Says the reason in words that complete the sentence "the lock was lost: …".
     *
     * @return a few words, without a full stop
     */
    public String explanation() {
        return explanation;
    }
}
