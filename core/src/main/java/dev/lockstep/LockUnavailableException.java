package dev.lockstep;

import org.jspecify.annotations.Nullable;

/**
 * The engine could not be reached, or the outcome of a request to it is unknown. The call acquired no lock: whatever its
 * request may have taken is released in the background. Never thrown by a release, see {@link
 * ReleaseNotConfirmedException}.
 */
public class LockUnavailableException extends LockNotAcquiredException {
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
