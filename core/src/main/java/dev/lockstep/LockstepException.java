package dev.lockstep;

import org.jspecify.annotations.Nullable;

/**
 * The parent of Lockstep's own exceptions. Not among them: {@link LockLostException}, which users of {@link
 * java.util.concurrent.locks.Lock} expect as an {@link IllegalMonitorStateException}; and {@link
 * InterruptedException}, which is never wrapped. {@link LockFailure} is what all of them have in common.
 *
 * <p>The types say whether the work under the lock ran:
 *
 * <ul>
 *   <li>{@link LockNotAcquiredException}, with its subtypes {@link LockTimeoutException}, {@link
 *       LockUnavailableException} and {@link DeadlockException}: nothing ran, and the call may be repeated; after a
 *       {@code DeadlockException}, only once the thread has released what it holds.
 *   <li>{@link ReleaseNotConfirmedException}, {@link LockLostException}: it ran, or had begun.
 * </ul>
 */
public class LockstepException extends RuntimeException implements LockFailure {
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
    @Override
    public @Nullable String lockName() {
        return lockName;
    }
}
