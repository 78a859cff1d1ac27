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
 * A lock that all processes see which use the same engine, namespace and name. One object may be shared by any number
 * of threads; two objects of one client and name are the same lock.
 *
 * <p>It keeps the contract of {@link Lock}, with what a distributed lock adds:
 *
 * <ul>
 *   <li><b>A hold can be lost.</b> {@link #unlock()} and {@link Lease#close()} then throw {@link LockLostException}. A
 *       thread whose hold was lost cannot take the lock again until it has given the lost hold back.
 *   <li><b>The engine can be away.</b> Calls that need it throw {@link LockUnavailableException}: when the caller's own
 *       deadline passes without contact, but not before the client's request timeout, or, if it has no deadline, after the
 *       request timeout without contact. {@code false} and an empty {@code Optional} always mean that somebody else holds
 *       the lock, or waits for it in a call that has not returned.
 *   <li><b>A call that gives up leaves nothing behind.</b> If it times out or is interrupted, it returns when the engine has
 *       confirmed that: one round trip later, or one request timeout later if the engine is silent.
 *   <li><b>It frees itself</b> when its process dies, at most the client's ttl later.
 * </ul>
 *
 * <p>Reentrant by thread unless {@link LockOptions#nonReentrant()} says otherwise; re-entry costs no round trip. Holds
 * by {@code lock()} and holds by {@code acquire()} of one thread count together, but each is undone by its own
 * opposite: {@code unlock()} undoes only {@code lock()}.
 *
 * <p>Memory: what a thread did before it gave the lock back is visible to the next thread of the same process that
 * takes it. Between processes there is no shared memory; visibility is the storage's.
 */
public interface DistributedLock extends Lock {
    /**
     * Names this lock.
     *
     * @return its name; for a multi-lock the names, comma-separated
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
     * Takes the lock, waiting as long as it takes, whether or not the thread is interrupted.
     *
     * @throws LockUnavailableException if the engine was not reached for the request timeout, or has not confirmed for
     *     that time that an earlier call of this client gave the lock back
     * @throws LockLostException if this thread has a lost hold of the lock that it has not given back
     * @throws SelfDeadlockException if this thread would wait for itself: a non-reentrant lock that it holds, or the write
     *     lock while it holds the read lock
     */
    @Override
    void lock();

    /**
     * Takes the lock, waiting until it has it or is interrupted. Nothing is left behind by an interrupt.
     *
     * @throws InterruptedException if the thread is interrupted on entry or while it waits
     * @throws LockUnavailableException as {@link #lock()}
     * @throws LockLostException as {@link #lock()}
     * @throws SelfDeadlockException as {@link #lock()}
     */
    @Override
    void lockInterruptibly() throws InterruptedException;

    /**
     * Takes the lock if it is free, with one round trip at most and without waiting for a holder.
     *
     * @return false if somebody else holds the lock; never because that is unknown
     * @throws SelfDeadlockException as {@link #lock()}
     * @throws LockUnavailableException if the engine did not answer within the request timeout, or refused the lock while
     *     it has not confirmed that an earlier call of this client gave it back
     * @throws LockLostException as {@link #lock()}
     */
    @Override
    boolean tryLock();

    /**
     * Takes the lock if it becomes free within a time. A time of zero or less does not wait; one of a hundred years or more
     * is no limit, so that the call behaves as {@link #lockInterruptibly()} does. A time that is shorter than a round trip
     * to the engine still has the engine's answer.
     *
     * @param time how long to wait at most
     * @param unit the unit of {@code time}
     * @return false if somebody else held the lock all the while; never because that is unknown
     * @throws SelfDeadlockException as {@link #lock()}
     * @throws InterruptedException if the thread is interrupted on entry or while it waits
     * @throws LockUnavailableException if the engine was not reached within that time and the request timeout, or could
     *     not be asked because it has not confirmed that an earlier call of this client gave the lock back
     * @throws LockLostException as {@link #lock()}
     */
    @Override
    boolean tryLock(long time, TimeUnit unit) throws InterruptedException;

    /**
     * Takes the lock if it becomes free within a time; see {@link #tryLock(long, TimeUnit)}.
     *
     * @param wait how long to wait at most; zero or less does not wait
     * @return false if somebody else held the lock all the while; never because that is unknown
     * @throws InterruptedException if the thread is interrupted on entry or while it waits
     */
    default boolean tryLock(Duration wait) throws InterruptedException {
        return tryLock(Durations.waitNanos(wait), TimeUnit.NANOSECONDS);
    }

    /**
     * Gives back one hold of the calling thread that {@code lock()} or one of its siblings took.
     *
     * @throws LockLostException if the hold had been lost
     * @throws ReleaseNotConfirmedException if the engine did not confirm within the request timeout. The release goes on
     *     in the background, and the hold is over for the caller
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
     * Takes the lock as a handle, waiting until it has it or is interrupted.
     *
     * @return the hold, to be closed by this thread
     * @throws InterruptedException if the thread is interrupted on entry or while it waits
     * @throws LockUnavailableException as {@link #lock()}
     * @throws LockLostException as {@link #lock()}
     * @throws SelfDeadlockException as {@link #lock()}
     */
    Lease acquire() throws InterruptedException;

    /**
     * Takes the lock as a handle, waiting as long as it takes, whether or not the thread is interrupted.
     *
     * @return the hold, to be closed by this thread
     * @throws LockUnavailableException as {@link #lock()}
     * @throws LockLostException as {@link #lock()}
     * @throws SelfDeadlockException as {@link #lock()}
     */
    Lease acquireUninterruptibly();

    /**
     * Takes the lock as a handle if it is free; see {@link #tryLock()}.
     *
     * @return the hold, or empty if somebody else holds the lock
     */
    Optional<Lease> tryAcquire();

    /**
     * Takes the lock as a handle if it becomes free within a time; see {@link #tryLock(long, TimeUnit)}.
     *
     * @param wait how long to wait at most; zero or less does not wait
     * @return the hold, or empty if somebody else held the lock all the while
     * @throws InterruptedException if the thread is interrupted on entry or while it waits
     */
    Optional<Lease> tryAcquire(Duration wait) throws InterruptedException;

    /**
     * Takes the lock without holding a thread while it waits. The lease belongs to the handle, not to a thread: it is
     * not reentrant and may be closed anywhere. Nobody can tell whether the caller waits for a lock of its own here, so no
     * {@link SelfDeadlockException} is thrown. Cancelling the future gives up, and releases what raced it; it does not
     * wait for the engine, so that until the engine has confirmed the call may still be the reason why another client's
     * {@code tryLock()} answers false. The future is completed on the client's executor; it fails as {@link #lock()} does.
     *
     * @return a future of the hold
     */
    CompletableFuture<Lease> acquireAsync();

    /**
     * Takes the lock if it becomes free within a time, without holding a thread; see {@link #acquireAsync()}.
     *
     * @param wait how long to wait at most; zero or less does not wait
     * @return a future of the hold, or of empty if somebody else held the lock all the while
     */
    CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration wait);

    /**
     * Shows the calling thread's hold, however it was taken: its token, whether it is valid, how long it lasts, and its loss.
     * No I/O. It belongs to that hold: after the hold has ended it stays invalid, even if the thread takes the lock again.
     *
     * @return the hold, lost or not; empty if the thread has none to release. It only shows the hold: its {@code close()} and
     *     {@code closeAsync()} throw {@link UnsupportedOperationException}, since who took the lock releases it
     */
    Optional<Lease> currentLease();

    /**
     * Tells whether the calling thread has a valid hold. No I/O.
     *
     * @return true if it does
     */
    boolean isHeldByCurrentThread();

    /**
     * Counts the valid holds of the calling thread, those of {@code lock()} and open leases together. No I/O.
     *
     * @return the count; 0 if it holds nothing, or lost what it held
     */
    int holdCount();
}
