package dev.lockstep.torture;

import org.jspecify.annotations.Nullable;

/** A kind of call, and how such calls may end. Its text names the call. */
interface Ending {
    /** Whether a call may end in this way, beside those in which any may. */
    boolean mayEndWith(@Nullable Throwable failure);

    /** Whether it waits no longer than the time that it draws, or not at all. */
    default boolean isTimed() {
        return false;
    }
}
