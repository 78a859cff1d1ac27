package dev.lockstep.internal;

import dev.lockstep.DistributedLock;
import dev.lockstep.DistributedReadWriteLock;

/** The two sides of one name. */
record ReadWriteLockView(DistributedLock readLock, DistributedLock writeLock) implements DistributedReadWriteLock {
    @Override
    public String name() {
        return writeLock.name();
    }

    @Override
    public String toString() {
        return "DistributedReadWriteLock[" + name() + "]";
    }
}
