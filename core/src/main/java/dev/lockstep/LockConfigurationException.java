package dev.lockstep;

import org.jspecify.annotations.Nullable;

/**
 * The client or the lock is set up, or used, in a way that cannot work: a bad URL, an engine whose jar is missing, a ttl below
 * the engine's minimum, options that the engine or another user of the same name excludes, a thread that would wait for itself
 * ({@link SelfDeadlockException}).
 */
public class LockConfigurationException extends LockstepException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes an exception.
     *
     * @param lockName the lock it is about, or null if it is about none
     * @param message what was tried, what happened and what to do
     */
    public LockConfigurationException(@Nullable String lockName, String message) {
        super(lockName, message, null);
    }

    /**
     * Makes an exception with a cause.
     *
     * @param lockName the lock it is about, or null if it is about none
     * @param message what was tried, what happened and what to do
     * @param cause what led to it
     */
    public LockConfigurationException(@Nullable String lockName, String message, @Nullable Throwable cause) {
        super(lockName, message, cause);
    }
}
