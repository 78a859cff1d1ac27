package dev.lockstep.internal.semaphore;

import java.util.function.Supplier;

/** The result of a call for permits. */
sealed interface PermitResult {
    /** The call has its permits. */
    record Held(PermitHold hold) implements PermitResult {}

    /** Others have the permits, and the call's time is up. */
    record Busy() implements PermitResult {}

    /** The call was interrupted or cancelled. */
    record GaveUp() implements PermitResult {}

    /**
     * The call failed.
     *
     * @param exception makes the exception, in the thread of the call
     */
    record Failed(Supplier<RuntimeException> exception) implements PermitResult {}
}
