package dev.lockstep.console;

import dev.lockstep.DistributedLock;
import dev.lockstep.LockClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Clients of an engine that hold locks, and threads that wait for them until this is closed. For one thread. */
final class Shop implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch over = new CountDownLatch(1);
    private final List<Thread> threads = new ArrayList<>();
    private final List<LockClient> clients = new ArrayList<>();

    /** A client of a real engine that soon records what its threads wait for. */
    static LockClient client(String url, String name) {
        return LockClient.builder()
                .url(url)
                .clientName(name)
                .recordWaitsAfter(Duration.ofMillis(100))
                .connect();
    }

    LockClient add(LockClient client) {
        clients.add(client);
        return client;
    }

    /** A thread that holds a lock; returns when it does. */
    void hold(LockClient client, String thread, String lock) {
        CountDownLatch held = new CountDownLatch(1);
        run(thread, () -> {
            client.lock(lock).lock();
            held.countDown();
            over.await();
        });
        await(held);
    }

    /** A thread that holds a lock, and waits for another one from {@link #beginWaits} on; returns when it holds. */
    void holdAndWait(LockClient client, String thread, String held, String wanted) {
        CountDownLatch holds = new CountDownLatch(1);
        run(thread, () -> {
            client.lock(held).lock();
            holds.countDown();
            begun.await();
            waitFor(client.lock(wanted));
        });
        await(holds);
    }

    void beginWaits() {
        begun.countDown();
    }

    void wait(LockClient client, String thread, String lock) {
        run(thread, () -> waitFor(client.lock(lock)));
    }

    private void waitFor(DistributedLock lock) throws InterruptedException {
        lock.lockInterruptibly();
        over.await();
    }

    private void run(String name, Work work) {
        Thread thread = new Thread(
                () -> {
                    try {
                        work.run();
                    } catch (InterruptedException | RuntimeException e) {
                        // The shop is closed.
                    }
                },
                name);
        thread.setDaemon(true);
        threads.add(thread);
        thread.start();
    }

    private interface Work {
        void run() throws InterruptedException;
    }

    private static void await(CountDownLatch latch) {
        try {
            if (!latch.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
                throw new AssertionError("nobody holds it within " + PATIENCE);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits until a lock has so many waiters at the engine. */
    static void awaitWaiters(LockClient client, String lock, int waiters) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (client.inspect(lock).waiters().size() < waiters) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError(client.inspect(lock).toString());
            }
            LockSupport.parkNanos(5_000_000);
        }
    }

    @Override
    public void close() {
        over.countDown();
        threads.forEach(Thread::interrupt);
        clients.forEach(LockClient::close);
    }
}
