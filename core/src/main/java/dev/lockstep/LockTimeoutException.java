package dev.lockstep;

import org.jspecify.annotations.Nullable;

/** Another holder had the lock for the whole time that the caller was ready to wait. */
public class LockTimeoutException extends LockNotAcquiredException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes an exception.
     *
     * @param lockName the lock it is about, or null if it is about none
     * @param message what was tried, what happened and what to do
     */
    public LockTimeoutException(@Nullable String lockName, String message) {
        super(lockName, message, null);
    }

    /**
     * Makes an exception with a cause.
     *
     * @param lockName the lock it is about, or null if it is about none
     * @param message what was tried, what happened and what to do
     * @param cause what led to it
     */
    public LockTimeoutException(@Nullable String lockName, String message, @Nullable Throwable cause) {
        super(lockName, message, cause);
    }
}
