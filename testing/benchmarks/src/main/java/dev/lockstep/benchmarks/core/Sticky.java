package dev.lockstep.benchmarks.core;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockOptions;
import dev.lockstep.memory.MemoryEngine;
import java.time.Duration;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** A lock that stays with its process, over an engine whose every answer takes a millisecond. */
@State(Scope.Benchmark)
@SuppressWarnings("LockNotBeforeTry") // the pair alone is measured
@Scenario("sticky lock over an engine that answers after 1 ms, one thread, nobody else")
public class Sticky {
    private final Lock reentrant = new ReentrantLock();
    private final LockClient client = LockClient.builder().backend(slowEngine()).connect();
    private final DistributedLock lock = client.lock("plain");
    private final DistributedLock sticky =
            client.lock("sticky", LockOptions.defaults().sticky(Duration.ofMinutes(1)));

    private static MemoryEngine slowEngine() {
        MemoryEngine engine = new MemoryEngine();
        engine.delayReplies(Duration.ofMillis(1));
        return engine;
    }

    @TearDown
    public void close() {
        client.close();
    }

    @Benchmark
    public void reentrantLock() {
        reentrant.lock();
        reentrant.unlock();
    }

    @Benchmark
    @Versus(value = "reentrantLock", goal = 20)
    public void lockstepSticky() {
        sticky.lock();
        sticky.unlock();
    }

    /** The goal is 100,000 a second. A grant has room for 1,023 tokens, so that each thousandth pair asks the engine. */
    @Benchmark
    @Versus("reentrantLock")
    public long lockstepStickyToken() throws InterruptedException {
        try (Lease lease = sticky.acquire()) {
            return lease.token();
        }
    }

    /** The same without a sticky lock. */
    @Benchmark
    @Versus("reentrantLock")
    public void lockstepNotSticky() {
        lock.lock();
        lock.unlock();
    }
}
