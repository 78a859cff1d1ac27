package dev.lockstep.internal.turnstile;

import java.util.function.Supplier;

/** How a call ends. Immutable. */
public sealed interface Result {
    /** It has the lock. */
    record Held(Hold hold) implements Result {}

    /** Another caller has the lock, at once or when the time of the call was up. */
    record Busy() implements Result {}

    /** It was interrupted or cancelled. */
    record GaveUp() implements Result {}

    /**
     * It is unknown, or cannot be known any more, whether the lock is held.
     *
     * @param exception makes the exception where it is thrown: each call has its own, with the stack of its thread
     */
    record Failed(Supplier<RuntimeException> exception) implements Result {}

    Busy BUSY = new Busy();
    GaveUp GAVE_UP = new GaveUp();
}
