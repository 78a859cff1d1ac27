package dev.lockstep.benchmarks.core;

import dev.lockstep.DistributedLock;
import dev.lockstep.LockClient;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** One thread acquires a lock that it holds already, and releases that hold. */
@State(Scope.Thread)
@SuppressWarnings("LockNotBeforeTry") // the pair alone is measured
@Scenario("re-entry: lock and unlock while holding it")
public class Reentry {
    private final Lock reentrant = new ReentrantLock();
    private final LockClient client = LockClient.connect("memory:");
    private final DistributedLock lock = client.lock("benchmark");

    @Setup
    public void hold() {
        lock.lock();
        reentrant.lock();
    }

    @TearDown
    public void giveBack() {
        reentrant.unlock();
        lock.unlock();
        client.close();
    }

    @Benchmark
    public void reentrantLock() {
        reentrant.lock();
        reentrant.unlock();
    }

    @Benchmark
    @Versus(value = "reentrantLock", goal = 3)
    public void lockstep() {
        lock.lock();
        lock.unlock();
    }
}
