package dev.lockstep.spi;

/** The answer to a claim. */
public sealed interface Outcome {
    /**
     * This client has the lock.
     *
     * @param grant the grant
     */
    record Granted(Grant grant) implements Outcome {}

    /** Others hold the lock, and the claim may not wait. It leaves nothing in the engine. */
    record Busy() implements Outcome {
        /** The only instance that is needed. */
        public static final Busy INSTANCE = new Busy();
    }
}
