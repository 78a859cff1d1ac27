package dev.lockstep.benchmarks.core;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;

/** Many threads of one process want one lock all the time, and count under it. */
@State(Scope.Benchmark)
@Threads(16)
@Scenario("16 threads of one client on one name")
public class Contended {
    private final Lock fair = new ReentrantLock(true);
    private final Lock unfair = new ReentrantLock();
    private final LockClient client = LockClient.connect("memory:");
    private final DistributedLock lock = client.lock("benchmark");
    private long count;

    @TearDown
    public void close() {
        client.close();
    }

    @Benchmark
    public long fairReentrantLock() {
        return countUnder(fair);
    }

    @Benchmark
    @Versus("fairReentrantLock")
    public long unfairReentrantLock() {
        return countUnder(unfair);
    }

    @Benchmark
    @Versus(value = "fairReentrantLock", goal = 1)
    public long lockstep() {
        return countUnder(lock);
    }

    @Benchmark
    @Versus("fairReentrantLock")
    public long lockstepLeaseToken() throws InterruptedException {
        try (Lease lease = lock.acquire()) {
            return ++count + lease.token();
        }
    }

    private long countUnder(Lock guard) {
        guard.lock();
        try {
            return ++count;
        } finally {
            guard.unlock();
        }
    }
}
