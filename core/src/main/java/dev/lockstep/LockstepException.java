package dev.lockstep;

import org.jspecify.annotations.Nullable;

/**
 * The parent of Lockstep's own exceptions. Not among them: {@link LockLostException}, which users of {@link
 * java.util.concurrent.locks.Lock} expect as an {@link IllegalMonitorStateException}; and {@link
 * InterruptedException}, which is never wrapped.
 */
public class LockstepException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** The lock that it is about, or null if it is about none. */
    private final @Nullable String lockName;

    /**
     * Makes an exception.
     *
     * @param lockName the lock it is about, or null if it is about none
     * @param message what was tried, what happened and what to do
     * @param cause what led to it, or null
     */
    public LockstepException(@Nullable String lockName, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.lockName = lockName;
    }

    /**
     * Names the lock that this is about.
     *
     * @return the lock's name, or null if this is about none, such as a bad URL
     */
    public @Nullable String lockName() {
        return lockName;
    }
}
