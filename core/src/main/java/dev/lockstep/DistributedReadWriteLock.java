package dev.lockstep;

import java.util.concurrent.locks.ReadWriteLock;

/**
 * A lock with a shared and an exclusive side. The write lock is the plain lock of the same name.
 *
 * <p>Readers hold it together. A writer that waits is not starved: readers that come after it wait behind it, on
 * whatever machine. A thread that holds the write lock may take the read lock too, and keep it when it gives the write
 * lock back (downgrade). A thread that holds the read lock cannot take the write lock (upgrade): it would wait for
 * itself, so {@code lock()} throws {@link LockConfigurationException} and {@code tryLock} answers false, both at once.
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
