package dev.lockstep.spring.integration;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/** Two locks, of which the second is acquired under the first. Immutable, safe for use by many threads. */
final class BothLocks implements Lock {
    /** Acquires a lock, or does not. */
    private interface Attempt {
        boolean run() throws InterruptedException;
    }

    private final Lock first;
    private final Lock second;

    BothLocks(Lock first, Lock second) {
        this.first = first;
        this.second = second;
    }

    @Override
    public void lock() {
        first.lock();
        try {
            second.lock();
        } catch (RuntimeException | Error e) {
            releaseAfter(e);
            throw e;
        }
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        first.lockInterruptibly();
        try {
            second.lockInterruptibly();
        } catch (InterruptedException | RuntimeException | Error e) {
            releaseAfter(e);
            throw e;
        }
    }

    @Override
    public boolean tryLock() {
        if (!first.tryLock()) {
            return false;
        }
        try {
            return orReleaseFirst(second::tryLock);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e); // tryLock() throws no such thing
        }
    }

    /** The time is spent once for both. */
    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
        long start = System.nanoTime();
        if (!first.tryLock(time, unit)) {
            return false;
        }
        return orReleaseFirst(
                () -> second.tryLock(unit.toNanos(time) - (System.nanoTime() - start), TimeUnit.NANOSECONDS));
    }

    private boolean orReleaseFirst(Attempt attempt) throws InterruptedException {
        boolean acquired;
        try {
            acquired = attempt.run();
        } catch (InterruptedException | RuntimeException | Error e) {
            releaseAfter(e);
            throw e;
        }
        if (!acquired) {
            first.unlock();
        }
        return acquired;
    }

    private void releaseAfter(Throwable thrown) {
        try {
            first.unlock();
        } catch (RuntimeException e) {
            thrown.addSuppressed(e);
        }
    }

    @Override
    public void unlock() {
        try {
            second.unlock();
        } catch (RuntimeException | Error e) {
            releaseAfter(e);
            throw e;
        }
        first.unlock();
    }

    @Override
    public Condition newCondition() {
        return second.newCondition();
    }

    @Override
    public String toString() {
        return first + " and " + second;
    }
}
