package dev.lockstep;

import org.jspecify.annotations.Nullable;

/**
 * The call acquired no lock, so nothing ran under it, and the call may be repeated; after a {@link DeadlockException},
 * only once the thread has released what it holds. Anything that the call may have left in the engine is released in
 * the background.
 *
 * <p>Work under a lock can throw this, too, if it takes other locks: {@link #lockName()} says which lock was not
 * acquired.
 */
public class LockNotAcquiredException extends LockstepException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes an exception.
     *
     * @param lockName the lock it is about, or null if it is about none
     * @param message what was tried, what happened and what to do
     * @param cause what led to it, or null
     */
    public LockNotAcquiredException(@Nullable String lockName, String message, @Nullable Throwable cause) {
        super(lockName, message, cause);
    }
}
