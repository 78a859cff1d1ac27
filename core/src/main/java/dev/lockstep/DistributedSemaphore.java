package dev.lockstep;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A number of permits, shared by all processes that use the same engine, namespace and name. At most that many permits
 * are valid at a time. Made by {@link LockClient#semaphore(String, int)}; two objects with the same name are the same
 * semaphore.
 *
 * <pre>{@code
 * DistributedSemaphore calls = locks.semaphore("slow-service", 10);
 * try (Permit permit = calls.acquire()) {
 *     service.call();
 * }
 * }</pre>
 *
 * <p>Unlike those of {@link java.util.concurrent.Semaphore}, permits belong to the caller that acquired them. A permit
 * cannot be released twice or by others, and a permit whose process dies is free after at most the client's ttl. There
 * is no re-entry: a thread that acquires twice has two permits. If a handle becomes unreachable, its permit is reported
 * as abandoned and released; so keep the handle for as long as the permit is needed.
 *
 * <p>Failures are those of {@link DistributedLock}: an empty {@code Optional} means that others have the permits, or wait for
 * them in calls that have not returned; it never means "unknown". A call that gives up leaves nothing behind.
 *
 * <p>All concurrent users of a name must use the same number of permits, and use the name only as a semaphore. The
 * engine checks this: while a permit is held or waited for, a call with a different number, or for a lock of that name,
 * throws {@link LockConfigurationException}. Otherwise the name can get another number.
 *
 * <p>Safe for use by many threads.
 */
public interface DistributedSemaphore {
    /**
     * Names this semaphore.
     *
     * @return its name
     */
    String name();

    /**
     * Returns how many permits there are.
     *
     * @return the number of permits, used or not
     */
    int permits();

    /**
     * Asks the engine how many permits are free. The answer may be out of date by the time it is read.
     *
     * @return from zero to {@link #permits()}
     * @throws LockConfigurationException if the name is used with another number of permits, or as a lock
     * @throws LockUnavailableException if the engine did not answer within the request timeout
     */
    int availablePermits();

    /**
     * Acquires a permit, waiting until it has it or is interrupted.
     *
     * @return the permit, which any thread may close
     * @throws InterruptedException if the thread is interrupted on entry or while it waits; nothing is left behind
     * @throws LockUnavailableException if the engine was not reached for the request timeout
     * @throws LockConfigurationException if the name is used with another number of permits, or as a lock
     */
    default Permit acquire() throws InterruptedException {
        return acquire(1);
    }

    /**
     * Acquires several permits as one, waiting until it has all of them or is interrupted. It never holds only a part
     * of them, so such calls cannot block each other. It may wait longer than a call for fewer permits; on engines that
     * keep an order, later calls do not overtake it.
     *
     * @param count how many; from 1 to {@link #permits()}
     * @return the permits, which are released together
     * @throws InterruptedException as {@link #acquire()}
     * @throws IllegalArgumentException if {@code count} is smaller or larger
     * @throws LockUnavailableException as {@link #acquire()}
     * @throws LockConfigurationException as {@link #acquire()}
     */
    Permit acquire(int count) throws InterruptedException;

    /**
     * Acquires a permit if one is free, without waiting for others.
     *
     * @return the permit, or empty if others have all of them
     * @throws LockUnavailableException if the engine did not answer within the request timeout
     * @throws LockConfigurationException as {@link #acquire()}
     */
    Optional<Permit> tryAcquire();

    /**
     * Acquires a permit if one becomes free within a time. If the engine stops answering meanwhile, the call may return
     * late, as {@link DistributedLock#tryLock(long, java.util.concurrent.TimeUnit)} may.
     *
     * @param wait how long to wait at most; zero or less does not wait
     * @return the permit, or empty if others held all of them for the whole time
     * @throws InterruptedException as {@link #acquire()}
     * @throws LockUnavailableException if the engine was not reached within that time and the request timeout
     * @throws LockConfigurationException as {@link #acquire()}
     */
    default Optional<Permit> tryAcquire(Duration wait) throws InterruptedException {
        return tryAcquire(1, wait);
    }

    /**
     * Acquires several permits as one if they become free within a time: all or none.
     *
     * @param count how many; from 1 to {@link #permits()}
     * @param wait how long to wait at most; zero or less does not wait
     * @return the permits, or empty if that many were never free at the same time
     * @throws InterruptedException as {@link #acquire()}
     * @throws IllegalArgumentException as {@link #acquire(int)}
     * @throws LockUnavailableException as {@link #tryAcquire(Duration)}
     * @throws LockConfigurationException as {@link #acquire()}
     */
    Optional<Permit> tryAcquire(int count, Duration wait) throws InterruptedException;

    /**
     * Acquires a permit without blocking a thread while it waits. Cancelling the future gives up, and releases the
     * permit if it was granted at the same moment. The future is completed on the client's executor; it fails as {@link
     * #acquire()} does.
     *
     * @return a future of the permit
     */
    CompletableFuture<Permit> acquireAsync();
}
