package dev.lockstep;

/**
 * The calling thread would wait for itself: it holds a lock that is not reentrant and asks for it again, or it holds
 * the read lock and asks for the write lock. Thrown at once, by every call that acquires a lock for a thread, with
 * or without a deadline. Nothing was acquired, and the thread keeps the locks that it holds. Repeating the call
 * does not help: release the held lock first.
 */
public class SelfDeadlockException extends LockConfigurationException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes an exception.
     *
     * @param lockName the lock that the thread asked for
     * @param message what was tried, what happened and what to do
     */
    public SelfDeadlockException(String lockName, String message) {
        super(lockName, message);
    }
}
