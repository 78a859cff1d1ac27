package dev.lockstep;

import org.jspecify.annotations.Nullable;

/** The engine could not be reached, or the outcome of a request to it is unknown. Lockstep then gives back, in the background, whatever the request may have taken. */
public class LockUnavailableException extends LockstepException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes an exception.
     *
     * @param lockName the lock it is about, or null if it is about none
     * @param message what was tried, what happened and what to do
     */
    public LockUnavailableException(@Nullable String lockName, String message) {
        super(lockName, message, null);
    }

    /**
     * Makes an exception with a cause.
     *
     * @param lockName the lock it is about, or null if it is about none
     * @param message what was tried, what happened and what to do
     * @param cause what led to it
     */
    public LockUnavailableException(@Nullable String lockName, String message, @Nullable Throwable cause) {
        super(lockName, message, cause);
    }
}
