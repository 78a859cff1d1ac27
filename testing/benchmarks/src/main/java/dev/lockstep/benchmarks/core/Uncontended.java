package dev.lockstep.benchmarks.core;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockListener;
import dev.lockstep.LockObserver;
import dev.lockstep.LockOptions;
import java.time.Duration;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** One thread acquires and releases a lock that nobody else wants. */
@State(Scope.Benchmark)
@SuppressWarnings("LockNotBeforeTry") // the pair alone is measured
@Scenario("lock and unlock, one thread, nobody else")
public class Uncontended {
    private final Lock reentrant = new ReentrantLock();
    private final LockClient client = LockClient.connect("memory:");
    private final DistributedLock lock = client.lock("benchmark");
    private final DistributedLock sticky =
            client.lock("sticky", LockOptions.defaults().sticky(Duration.ofSeconds(10)));

    private final LockClient observed =
            LockClient.builder().url("memory:").observer(new LockObserver() {}).connect();
    private final DistributedLock observedLock = observed.lock("benchmark");
    private final LockClient heard =
            LockClient.builder().url("memory:").listener(new LockListener() {}).connect();
    private final DistributedLock heardLock = heard.lock("benchmark");

    @TearDown
    public void close() {
        client.close();
        observed.close();
        heard.close();
    }

    @Benchmark
    public void reentrantLock() {
        reentrant.lock();
        reentrant.unlock();
    }

    @Benchmark
    @Versus(value = "reentrantLock", goal = 10)
    public void lockstep() {
        lock.lock();
        lock.unlock();
    }

    /** An observer that does nothing leaves 90 % of the speed. */
    @Benchmark
    @Versus(value = "lockstep", goal = 1 / 0.9)
    public void lockstepObserver() {
        observedLock.lock();
        observedLock.unlock();
    }

    /** Events for listeners are published in order, under the mutex, and delivered by the executor. */
    @Benchmark
    @Versus("lockstep")
    public void lockstepListener() {
        heardLock.lock();
        heardLock.unlock();
    }

    @Benchmark
    @Versus("reentrantLock")
    public void lockstepLookup() {
        DistributedLock found = client.lock("benchmark");
        found.lock();
        found.unlock();
    }

    @Benchmark
    @Versus("reentrantLock")
    public void lockstepLease() throws InterruptedException {
        lock.acquire().close();
    }

    @Benchmark
    @Versus("reentrantLock")
    public long lockstepLeaseToken() throws InterruptedException {
        try (Lease lease = lock.acquire()) {
            return lease.token();
        }
    }

    @Benchmark
    @Versus("reentrantLock")
    public void lockstepSticky() {
        sticky.lock();
        sticky.unlock();
    }

    @Benchmark
    @Versus("reentrantLock")
    public void lockstepAsync() {
        lock.acquireAsync().join().closeAsync().join();
    }
}
