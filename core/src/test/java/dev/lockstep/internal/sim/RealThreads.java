package dev.lockstep.internal.sim;

import dev.lockstep.DistributedLock;
import dev.lockstep.LockClient;
import dev.lockstep.LockOptions;
import dev.lockstep.internal.turnstile.SimClients;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Real threads that park and wake each other, which the simulation's threads do not: those look by themselves now and
 * then. In each round a few threads take the lock a few times; then all must be through, with nobody there any more who
 * could happen to help a thread that missed its wake-up.
 */
public final class RealThreads {
    private static final int WAITING = 2;
    private static final int TRYING = 3;

    /** Far more than a round takes on a busy machine: some hundred microseconds, and a few time slices. */
    private static final long LONGEST_ROUND_SECONDS = 5;

    private final LockClient client;
    private final ExecutorService threads = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "real");
        thread.setDaemon(true);
        return thread;
    });
    private final AtomicInteger inside = new AtomicInteger();
    private final AtomicReference<@Nullable String> violation = new AtomicReference<>();

    private RealThreads() {
        client = SimClients.openReal(context -> new SlowEngine(threads), threads, List.of());
    }

    /**
     * Runs rounds until one does not end.
     *
     * @param rounds the most rounds
     * @param nanos for how long at most
     * @return what was wrong; null if nothing was
     */
    public static @Nullable String run(long rounds, long nanos) throws InterruptedException {
        RealThreads real = new RealThreads();
        long end = System.nanoTime() + nanos;
        try {
            for (long round = 1; round <= rounds && System.nanoTime() - end < 0; round++) {
                String wrong = real.round("lock-" + round);
                if (wrong != null) {
                    return "round " + round + ": " + wrong;
                }
            }
            return null;
        } finally {
            real.client.close();
            real.threads.shutdown();
        }
    }

    private @Nullable String round(String name) throws InterruptedException {
        DistributedLock lock = client.lock(name, LockOptions.defaults().handOff(1));
        List<Thread> workers = new ArrayList<>();
        for (int i = 0; i < WAITING + TRYING; i++) {
            boolean waits = i < WAITING;
            Thread worker = new Thread(() -> use(lock, waits), (waits ? "waiting-" : "trying-") + i);
            worker.setDaemon(true);
            workers.add(worker);
        }
        workers.forEach(Thread::start);
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LONGEST_ROUND_SECONDS);
        for (Thread worker : workers) {
            TimeUnit.NANOSECONDS.timedJoin(worker, Math.max(end - System.nanoTime(), 1));
            if (worker.isAlive()) {
                return worker.getName() + " still waits: " + List.of(worker.getStackTrace());
            }
        }
        return violation.get();
    }

    private void use(DistributedLock lock, boolean waits) {
        try {
            for (int i = 0; i < (waits ? 2 : 6); i++) {
                if (waits) {
                    lock.lock();
                } else if (!lock.tryLock()) {
                    continue;
                }
                if (inside.incrementAndGet() > 1) {
                    violation.set("two threads hold the lock");
                }
                if (ThreadLocalRandom.current().nextBoolean()) {
                    Thread.yield();
                }
                inside.decrementAndGet();
                lock.unlock();
            }
        } catch (RuntimeException e) {
            violation.compareAndSet(null, "unexpected " + e);
        }
    }
}
