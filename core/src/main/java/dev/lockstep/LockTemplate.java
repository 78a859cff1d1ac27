package dev.lockstep;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Acquires a lock, runs some work, and releases the lock, even if the work fails. Immutable, safe for use by many threads.
 *
 * <pre>{@code
 * int number = locks.template().fenced().execute("order-numbers", lease -> counter.next(lease.token()));
 * }</pre>
 *
 * <p>The result of work that has returned is never lost. If the engine does not confirm the release, that is logged and
 * nothing is thrown; the release continues in the background. If the lock was lost while the work ran, the exception
 * contains the result.
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
     * @throws E what the work threw, unchanged; the lock has been released
     * @throws InterruptedException if the thread is interrupted on entry or while it waits for the lock
     * @throws LockTimeoutException if others held the lock for the whole time; the message says which
     * @throws LockUnavailableException if the engine could not be reached, so that the work did not run
     * @throws LockLostAfterWorkException if the work has returned and the lock was lost meanwhile; it contains the
     *     result. Not thrown if the template is {@link #fenced()}
     * @throws LockLostException if this thread has a lost hold of the lock from before, so that the work did not run; or if
     *     the work threw it
     */
    <T extends @Nullable Object, E extends Exception> T execute(String name, LockCallback<T, E> work)
            throws E, InterruptedException;

    /**
     * Runs work under any lock of the template's client, such as a read lock or a multi-lock:
     *
     * <pre>{@code
     * template.execute(locks.readWriteLock("prices").readLock(), lease -> prices.read());
     * template.execute(locks.multiLock("account:1", "account:2"), lease -> transfer(lease));
     * }</pre>
     *
     * @param lock the lock, with its own options; those of the template do not apply
     * @param work what to do
     * @param <T> what the work returns
     * @param <E> what the work throws
     * @return what the work returned
     * @throws E as {@link #execute(String, LockCallback)}, which throws the other exceptions, too
     * @throws InterruptedException if the thread is interrupted on entry or while it waits for the lock
     * @throws LockTimeoutException as there; of a multi-lock, the message says who holds the first ten locks
     */
    <T extends @Nullable Object, E extends Exception> T execute(DistributedLock lock, LockCallback<T, E> work)
            throws E, InterruptedException;

    /**
     * Runs work without a result under a lock; see {@link #execute(String, LockCallback)}.
     *
     * @param name the lock
     * @param work what to do
     * @param <E> what the work throws
     * @throws E what the work threw, unchanged; the lock has been released
     * @throws InterruptedException if the thread is interrupted on entry or while it waits for the lock
     */
    default <E extends Exception> void run(String name, LockAction<E> work) throws E, InterruptedException {
        Objects.requireNonNull(work, "work");
        LockCallback<Boolean, E> callback = lease -> {
            work.run(lease);
            return true;
        };
        execute(name, callback);
    }

    /**
     * Runs work without a result under any lock of the template's client; see {@link #execute(DistributedLock,
     * LockCallback)}.
     *
     * @param lock the lock, with its own options
     * @param work what to do
     * @param <E> what the work throws
     * @throws E what the work threw, unchanged; the lock has been released
     * @throws InterruptedException if the thread is interrupted on entry or while it waits for the lock
     */
    default <E extends Exception> void run(DistributedLock lock, LockAction<E> work) throws E, InterruptedException {
        Objects.requireNonNull(work, "work");
        LockCallback<Boolean, E> callback = lease -> {
            work.run(lease);
            return true;
        };
        execute(lock, callback);
    }

    /**
     * Runs asynchronous work under a lock without blocking a thread while it waits.
     *
     * @param name the lock
     * @param work starts the work, on the client's executor; the lock is held until its stage is completed
     * @param <T> what the work returns
     * @return see {@link #executeAsync(DistributedLock, Function)}
     */
    <T extends @Nullable Object> CompletableFuture<T> executeAsync(
            String name, Function<Lease, ? extends CompletionStage<T>> work);

    /**
     * Runs asynchronous work under any lock of the template's client without blocking a thread while it waits.
     *
     * @param lock the lock, with its own options
     * @param work starts the work, on the client's executor; the lock is held until its stage is completed
     * @param <T> what the work returns
     * @return a future of what the work returns, completed after the lock was released. It fails as {@link
     *     #execute(String, LockCallback)} does, but the message of a {@link LockTimeoutException} does not say who holds
     *     the lock; what the work throws, or its stage fails with, is unchanged. Cancelling it before the lock is
     *     acquired gives up; afterwards the work continues, and the lock is released when it has ended
     */
    <T extends @Nullable Object> CompletableFuture<T> executeAsync(
            DistributedLock lock, Function<Lease, ? extends CompletionStage<T>> work);

    /**
     * Changes how long a call waits for the lock; 1 second unless changed.
     *
     * @param wait how long to wait at most; zero or less does not wait
     * @return a copy with that wait
     */
    LockTemplate waitAtMost(Duration wait);

    /**
     * For work whose every effect is guarded by the token: it presents {@link Lease#token()} to storage with each read
     * and write, and storage refuses tokens lower than the highest it has seen. A write that storage has accepted is
     * correct, whatever happened to the lock afterwards, so the template returns the result of such work even if the
     * lock was lost meanwhile. The loss is logged, and listeners are notified.
     *
     * @return a copy that returns the result of completed work in spite of a loss
     */
    LockTemplate fenced();
}
