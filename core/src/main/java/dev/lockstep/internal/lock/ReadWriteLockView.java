package dev.lockstep.internal.lock;

import dev.lockstep.DistributedLock;
import dev.lockstep.DistributedReadWriteLock;

/** The two sides of one name. */
public record ReadWriteLockView(DistributedLock readLock, DistributedLock writeLock)
        implements DistributedReadWriteLock {
    @Override
    public String name() {
        return writeLock.name();
    }

    @Override
    public String toString() {
        return "DistributedReadWriteLock[" + name() + "]";
    }
}
