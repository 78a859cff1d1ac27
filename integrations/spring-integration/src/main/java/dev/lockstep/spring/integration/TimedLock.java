package dev.lockstep.spring.integration;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import org.springframework.integration.support.locks.DistributedLock;

/**
 * A lock with the calls of Spring Integration 7 that have a time-to-live, which is not used. In a class of its own, since
 * Spring Integration 6 lacks the interface. Immutable, safe for use by many threads.
 */
final class TimedLock implements DistributedLock {
    private final Lock lock;

    TimedLock(Lock lock) {
        this.lock = lock;
    }

    @Override
    public void lock(Duration ttl) {
        lock.lock();
    }

    @Override
    public boolean tryLock(Duration wait, Duration ttl) throws InterruptedException {
        return lock.tryLock(TimeUnit.NANOSECONDS.convert(wait), TimeUnit.NANOSECONDS); // does not overflow
    }

    @Override
    public void lock() {
        lock.lock();
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        lock.lockInterruptibly();
    }

    @Override
    public boolean tryLock() {
        return lock.tryLock();
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
        return lock.tryLock(time, unit);
    }

    @Override
    public void unlock() {
        lock.unlock();
    }

    @Override
    public Condition newCondition() {
        return lock.newCondition();
    }

    @Override
    public String toString() {
        return lock.toString();
    }
}
