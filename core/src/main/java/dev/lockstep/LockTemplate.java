package dev.lockstep;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Takes a lock, runs some work, and releases the lock, whatever happens. Immutable, safe for use by many threads.
 *
 * <pre>{@code
 * int number = locks.template().fenced().execute("order-numbers", lease -> counter.next(lease.token()));
 * }</pre>
 *
 * <p>The result of work that has returned is never lost. If the engine does not confirm the release, that is logged and
 * nothing is thrown; the release goes on in the background. If the lock was lost while the work ran, the exception has
 * the result.
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
     * @throws LockUnavailableException if the engine could not be reached, so that the work did not run
     * @throws LockLostAfterWorkException if the work has returned and the lock was lost meanwhile; it has the result. Not
     *     thrown if the template is {@link #fenced()}
     * @throws LockLostException if this thread has a lost hold of the lock from before, so that the work did not run; or if
     *     the work threw it
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

    /**
     * For work whose every effect is guarded by the token: it shows {@link Lease#token()} to storage with each read and
     * write, and storage refuses tokens lower than it has seen. What storage has accepted is right, whatever became of
     * the lock afterwards, so {@link #execute} returns the result of such work even if the lock was lost meanwhile. The
     * loss is logged, and listeners hear of it.
     *
     * @return a copy that returns the result of completed work in spite of a loss
     */
    LockTemplate fenced();
}
