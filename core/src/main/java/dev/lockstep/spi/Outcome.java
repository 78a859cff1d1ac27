package dev.lockstep.spi;

/** The answer to a claim. */
public sealed interface Outcome {
    /**
     * The lock is this client's.
     *
     * @param grant what it has
     */
    record Granted(Grant grant) implements Outcome {}

    /** Others hold the lock, and the claim may not wait. Nothing is left at the engine. */
    record Busy() implements Outcome {
        /** The only one that is needed. */
        public static final Busy INSTANCE = new Busy();
    }
}
