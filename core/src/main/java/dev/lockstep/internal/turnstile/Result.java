package dev.lockstep.internal.turnstile;

import java.util.function.Supplier;

/** How a call ends. Immutable. */
public sealed interface Result {
    /** It has the lock. */
    record Held(Hold hold) implements Result {}

    /** Somebody else has the lock, at once or when the time of the call was up. */
    record Busy() implements Result {}

    /** It was interrupted or cancelled. */
    record GaveUp() implements Result {}

    /**
     * Nobody knows, or nobody can know any more, whether somebody has the lock.
     *
     * @param exception makes the exception where it is thrown: each call has its own, with the stack of its thread
     */
    record Failed(Supplier<RuntimeException> exception) implements Result {}

    Busy BUSY = new Busy();
    GaveUp GAVE_UP = new GaveUp();
}
