package dev.lockstep;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Takes a lock, runs some work, and gives the lock back, whatever happens. Immutable, safe for use by many threads.
 *
 * <pre>{@code
 * int number = locks.template().execute("order-numbers", lease -> counter.next(lease.token()));
 * }</pre>
 */
public interface LockTemplate {
    /**
     * Runs work under a lock.
     *
     * @param name the lock
     * @param work what to do
     * @param <T> what the work returns
     * @param <E> what the work throws
     * @return what the work returned
     * @throws E what the work threw, unchanged; the lock has been given back
     * @throws InterruptedException if the thread is interrupted on entry or while it waits for the lock
     * @throws LockTimeoutException if somebody else held the lock all the while; it says who
     * @throws LockLostException if the lock was lost while the work ran, once the work has returned
     * @throws LockUnavailableException if the engine could not be reached
     */
    <T extends @Nullable Object, E extends Exception> T execute(String name, LockCallback<T, E> work)
            throws E, InterruptedException;

    /**
     * Changes how long {@link #execute} waits for the lock; 1 second unless changed.
     *
     * @param wait how long to wait at most; zero or less does not wait
     * @return a copy with that wait
     */
    LockTemplate waitAtMost(Duration wait);
}
