package dev.lockstep.cli;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/** The measurements of {@code bench}, on two clients. */
final class Bench {
    private final LockClient one;
    private final LockClient other;
    private final Duration time;
    private final String name = "bench:" + UUID.randomUUID();

    /** The client that released the lock last, and when; guarded by the lock itself. */
    private volatile @Nullable Object lastHolder;

    private volatile long releasedAt;

    Bench(LockClient one, LockClient other, Duration time) {
        this.one = one;
        this.other = other;
        this.time = time;
    }

    /** How long it takes to acquire and release, in each of some threads of one client. */
    Waits pairs(int threads) throws InterruptedException {
        DistributedLock lock = one.lock(name);
        return measure(Collections.nCopies(threads, (waits, deadline) -> {
            while (System.nanoTime() < deadline) {
                long start = System.nanoTime();
                lock.acquire().close();
                waits.add(System.nanoTime() - start);
            }
        }));
    }

    /** How long it takes from one client's release to the other's grant, in turn where the engine keeps an order. */
    Waits handOffs() throws InterruptedException {
        LockOptions options = options();
        return measure(
                List.of(handOffs(one.lock(name + ":fair", options)), handOffs(other.lock(name + ":fair", options))));
    }

    private Work handOffs(DistributedLock lock) {
        return (waits, deadline) -> {
            while (System.nanoTime() < deadline) {
                try (Lease lease = lock.acquire()) {
                    long now = System.nanoTime();
                    if (lastHolder != null && lastHolder != lock && lease.isValid()) {
                        waits.add(now - releasedAt);
                    }
                    lastHolder = lock;
                    releasedAt = System.nanoTime();
                }
            }
        };
    }

    private LockOptions options() {
        try {
            one.lock(name + ":fair", LockOptions.defaults().fair());
            return LockOptions.defaults().fair();
        } catch (LockConfigurationException e) {
            return LockOptions.defaults().handOff(0);
        }
    }

    /** The work of one thread until a deadline. */
    private interface Work {
        void run(Collection<Long> waits, long deadline) throws InterruptedException;
    }

    private Waits measure(List<Work> threads) throws InterruptedException {
        ExecutorService executor = Executors.newFixedThreadPool(threads.size());
        try {
            long deadline = System.nanoTime() + time.toNanos();
            List<Future<List<Long>>> running = new ArrayList<>();
            for (Work work : threads) {
                Callable<List<Long>> task = () -> {
                    List<Long> waits = new ArrayList<>();
                    work.run(waits, deadline);
                    return waits;
                };
                running.add(executor.submit(task));
            }
            List<Long> all = new ArrayList<>();
            for (Future<List<Long>> thread : running) {
                all.addAll(thread.get());
            }
            return new Waits(all);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw new IllegalStateException(e.getCause());
        } finally {
            executor.shutdownNow();
        }
    }
}
