package dev.lockstep;

import org.jspecify.annotations.Nullable;

/**
 * A lock was held and released, and the engine has not confirmed the release within the request timeout. The work under
 * the lock is done: do not repeat it. The hold is over for the caller; the release continues in the background, and the
 * lock is free after the ttl at the latest.
 */
public class ReleaseNotConfirmedException extends LockstepException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes an exception.
     *
     * @param lockName the lock that was released
     * @param message what was tried, what happened and what to do
     * @param cause what led to it, or null
     */
    public ReleaseNotConfirmedException(String lockName, String message, @Nullable Throwable cause) {
        super(lockName, message, cause);
    }
}
