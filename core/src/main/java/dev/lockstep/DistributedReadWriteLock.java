package dev.lockstep;

import java.util.concurrent.locks.ReadWriteLock;

/**
 * A lock with a shared and an exclusive side. The write lock is the plain lock of the same name.
 *
 * <p>Readers hold it together. A waiting writer is not starved: readers that come after it wait behind it, on every
 * machine. A thread that holds the write lock may acquire the read lock, too, and keep it when it releases the write lock
 * (downgrade). A thread that holds the read lock cannot acquire the write lock (upgrade): it would wait for itself, so
 * {@code lock()} and {@code tryLock} throw {@link SelfDeadlockException} at once.
 */
public interface DistributedReadWriteLock extends ReadWriteLock {
    /**
     * Names this lock.
     *
     * @return its name
     */
    String name();

    /**
     * The shared side.
     *
     * @return the read lock
     */
    @Override
    DistributedLock readLock();

    /**
     * The exclusive side.
     *
     * @return the write lock
     */
    @Override
    DistributedLock writeLock();
}
