package dev.lockstep;

import dev.lockstep.spi.Durations;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/**
 * A lock shared by all processes that use the same engine, namespace and name. One object may be shared by any number
 * of threads; two objects of the same client and name are the same lock.
 *
 * <p>It keeps the contract of {@link Lock}. A distributed lock adds to it:
 *
 * <ul>
 *   <li><b>A hold can be lost.</b> {@link #unlock()} and {@link Lease#close()} then throw {@link LockLostException}. A
 *       thread whose hold was lost cannot acquire the lock again until it has released the lost hold.
 *   <li><b>The engine can be unreachable.</b> Calls that need it throw {@link LockUnavailableException}: when the
 *       caller's own deadline passes without contact, but not before the client's request timeout, or, if it has no
 *       deadline, after the request timeout without contact. {@code false} and an empty {@code Optional} always mean
 *       that the lock is taken, never that its state is unknown: another client or another thread holds it or waits for
 *       it in a call that has not returned, or this client still holds it in its fallback.
 *   <li><b>A call that gives up leaves nothing behind.</b> If it times out or is interrupted, it returns when the
 *       engine has confirmed the withdrawal: one round trip later, or after the request timeout if the engine does not
 *       answer.
 *   <li><b>It frees itself</b> when its process dies, at most the client's ttl later.
 * </ul>
 *
 * <p>The lock is reentrant for its thread unless it is {@link LockOptions#nonReentrant()}; re-entry costs no round
 * trip. A thread's holds by {@code lock()} and by {@code acquire()} count together, but each is released by its own
 * counterpart: {@code unlock()} releases only a hold by {@code lock()}.
 *
 * <p>Memory: what a thread did before it released the lock is visible to the next thread of the same process that takes
 * it. Processes share no memory; what one process sees of another's writes depends on the storage.
 */
public interface DistributedLock extends Lock {
    /**
     * Names this lock.
     *
     * @return its name; for a multi-lock the names, comma-separated. If there are many, only the first ten and the
     *     number of the others
     */
    String name();

    /**
     * Names the locks that this one consists of.
     *
     * @return its name; for a multi-lock the names, in the order in which they are taken
     */
    default List<String> names() {
        return List.of(name());
    }

    /**
     * Acquires the lock and waits without a limit. An interrupt does not end the wait.
     *
     * @throws LockUnavailableException if the engine was not reached for the request timeout, or has not confirmed for
     *     that time that an earlier call of this client released the lock
     * @throws LockLostException if this thread has a lost hold of the lock that it has not released
     * @throws SelfDeadlockException if this thread would wait for itself: a non-reentrant lock that it holds, or the write
     *     lock while it holds the read lock
     */
    @Override
    void lock();

    /**
     * Acquires the lock, waiting until it has it or is interrupted. An interrupted call leaves nothing behind.
     *
     * @throws InterruptedException if the thread is interrupted on entry or while it waits
     * @throws LockUnavailableException as {@link #lock()}
     * @throws LockLostException as {@link #lock()}
     * @throws SelfDeadlockException as {@link #lock()}
     */
    @Override
    void lockInterruptibly() throws InterruptedException;

    /**
     * Acquires the lock if it is free, with one round trip at most and without waiting for a holder.
     *
     * @return false if others hold the lock or wait for it; never because that is unknown
     * @throws SelfDeadlockException as {@link #lock()}
     * @throws LockUnavailableException if the engine did not answer within the request timeout, or refused the lock and
     *     has not confirmed yet that an earlier call of this client released it
     * @throws LockLostException as {@link #lock()}
     */
    @Override
    boolean tryLock();

    /**
     * Acquires the lock if it becomes free within a time. With a time of zero or less the call does not wait; a time of a
     * hundred years or more is no limit, so that the call behaves as {@link #lockInterruptibly()} does. Even if the
     * time is shorter than a round trip, the call waits for the engine's answer. If the engine stops answering while the
     * call waits, the call may return later than its time, by one request timeout at most: until the engine has confirmed
     * that the call waits no more, it could refuse the lock to others because of it.
     *
     * @param time how long to wait at most
     * @param unit the unit of {@code time}
     * @return false if others held the lock for the whole time; never if that is unknown
     * @throws SelfDeadlockException as {@link #lock()}
     * @throws InterruptedException if the thread is interrupted on entry or while it waits
     * @throws LockUnavailableException if the engine was not reached within that time and the request timeout, or could
     *     not be asked because it has not confirmed that an earlier call of this client released the lock
     * @throws LockLostException as {@link #lock()}
     */
    @Override
    boolean tryLock(long time, TimeUnit unit) throws InterruptedException;

    /**
     * Acquires the lock if it becomes free within a time; see {@link #tryLock(long, TimeUnit)}.
     *
     * @param wait how long to wait at most; zero or less does not wait
     * @return false if others held the lock for the whole time; never if that is unknown
     * @throws InterruptedException if the thread is interrupted on entry or while it waits
     */
    default boolean tryLock(Duration wait) throws InterruptedException {
        return tryLock(Durations.waitNanos(wait), TimeUnit.NANOSECONDS);
    }

    /**
     * Releases one hold of the calling thread that {@code lock()}, {@code lockInterruptibly()} or {@code tryLock} took.
     *
     * @throws LockLostException if the hold had been lost
     * @throws ReleaseNotConfirmedException if the engine did not confirm within the request timeout. The release
     *     continues in the background, and the hold is over for the caller
     * @throws IllegalMonitorStateException if the thread has no such hold
     */
    @Override
    void unlock();

    /**
     * Not supported.
     *
     * @return never
     * @throws UnsupportedOperationException always
     */
    @Override
    default Condition newCondition() {
        throw new UnsupportedOperationException(
                "Lock '" + name() + "' has no conditions: no engine can signal one reliably.");
    }

    /**
     * Acquires the lock as a handle, waiting until it has it or is interrupted.
     *
     * @return the hold, to be closed by this thread
     * @throws InterruptedException if the thread is interrupted on entry or while it waits
     * @throws LockUnavailableException as {@link #lock()}
     * @throws LockLostException as {@link #lock()}
     * @throws SelfDeadlockException as {@link #lock()}
     */
    Lease acquire() throws InterruptedException;

    /**
     * Acquires the lock as a handle and waits without a limit. An interrupt does not end the wait.
     *
     * @return the hold, to be closed by this thread
     * @throws LockUnavailableException as {@link #lock()}
     * @throws LockLostException as {@link #lock()}
     * @throws SelfDeadlockException as {@link #lock()}
     */
    Lease acquireUninterruptibly();

    /**
     * Acquires the lock as a handle if it is free; see {@link #tryLock()}.
     *
     * @return the hold, or empty if the lock is taken
     */
    Optional<Lease> tryAcquire();

    /**
     * Acquires the lock as a handle if it becomes free within a time; see {@link #tryLock(long, TimeUnit)}.
     *
     * @param wait how long to wait at most; zero or less does not wait
     * @return the hold, or empty if others held the lock for the whole time
     * @throws InterruptedException if the thread is interrupted on entry or while it waits
     */
    Optional<Lease> tryAcquire(Duration wait) throws InterruptedException;

    /**
     * Acquires the lock without blocking a thread while it waits. The lease belongs to the handle, not to a thread: it is
     * not reentrant, and any thread may close it. Lockstep cannot know whether the caller waits for its own lock here,
     * so it throws no {@link SelfDeadlockException}. Cancelling the future gives up, and releases the lock if it was
     * granted at the same moment. Cancelling does not wait for the engine: until the engine has confirmed it, another
     * client's {@code tryLock()} may still return false because of this call. The future is completed on the client's
     * executor; it fails as {@link #lock()} does.
     *
     * @return a future of the hold
     */
    CompletableFuture<Lease> acquireAsync();

    /**
     * Acquires the lock if it becomes free within a time, without blocking a thread; see {@link #acquireAsync()}.
     *
     * @param wait how long to wait at most; zero or less does not wait
     * @return a future of the hold, or of empty if others held the lock for the whole time
     */
    CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration wait);

    /**
     * Shows the calling thread's hold, however it was taken: its token, whether it is valid, how long it lasts, and its loss.
     * No I/O. It belongs to that hold: after the hold has ended it stays invalid, even if the thread acquires it again.
     *
     * @return the hold, lost or not; empty if the thread has none to release. It only shows the hold: its {@code
     *     close()} and {@code closeAsync()} throw {@link UnsupportedOperationException}, since the code that took the
     *     lock releases it
     */
    Optional<Lease> currentLease();

    /**
     * Returns whether the calling thread has a valid hold. No I/O.
     *
     * @return true if it does
     */
    boolean isHeldByCurrentThread();

    /**
     * Counts the valid holds of the calling thread, those of {@code lock()} and open leases together. No I/O.
     *
     * @return the count; 0 if it has no hold, or lost it
     */
    int holdCount();
}
