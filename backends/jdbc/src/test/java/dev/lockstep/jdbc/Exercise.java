package dev.lockstep.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockLostException;
import dev.lockstep.LockOptions;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.ReleaseNotConfirmedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.awaitility.Awaitility;

/**
 * Threads of several clients that use a plain lock, a fair one, and both sides of a read-write lock, and look whether
 * another thread is inside, and whether tokens rise. A call that fails because the database is unreachable is tried
 * again.
 */
final class Exercise {
    private final List<Thread> threads = new ArrayList<>();
    private final AtomicInteger done = new AtomicInteger();
    private final Queue<Throwable> wrong = new ConcurrentLinkedQueue<>();
    private final Guarded plain = new Guarded();
    private final Guarded fair = new Guarded();
    private final Guarded shared = new Guarded();
    private final Supplier<String> state;
    private volatile boolean stopped;

    /** The data that a lock protects, with checks that notice if it does not. */
    private static final class Guarded {
        final AtomicInteger inside = new AtomicInteger();
        long lastToken; // guarded by the lock under test

        void write(Lease lease) {
            long token = lease.token();
            assertThat(inside.getAndAdd(1000)).as("nobody else is inside").isZero();
            assertThat(token).as("the token rises").isGreaterThan(lastToken);
            lastToken = token;
            LockSupport.parkNanos(200_000);
            inside.addAndGet(-1000);
        }

        void read() {
            assertThat(inside.getAndAdd(1)).as("no writer is inside").isLessThan(1000);
            LockSupport.parkNanos(200_000);
            inside.addAndGet(-1);
        }
    }

    Exercise(List<LockClient> clients) {
        state = () -> clients.get(0).list("").toString();
        for (LockClient client : clients) {
            add(() -> {
                try (Lease lease =
                        client.lock("plain").tryAcquire(Duration.ofSeconds(30)).orElseThrow()) {
                    plain.write(lease);
                }
            });
            add(() -> {
                try (Lease lease = client.lock("fair", LockOptions.defaults().fair())
                        .tryAcquire(Duration.ofSeconds(30))
                        .orElseThrow()) {
                    fair.write(lease);
                }
            });
            add(() -> {
                try (Lease lease =
                        client.lock("shared").tryAcquire(Duration.ofSeconds(30)).orElseThrow()) {
                    shared.write(lease);
                }
            });
            add(() -> {
                try (Lease lease = client.readWriteLock("shared")
                        .readLock()
                        .tryAcquire(Duration.ofSeconds(30))
                        .orElseThrow()) {
                    assertThat(lease.lockName()).isEqualTo("shared");
                    shared.read();
                }
            });
        }
    }

    /** One step, which acquires a lock and releases it. */
    @FunctionalInterface
    private interface Step {
        void run() throws InterruptedException;
    }

    private void add(Step step) {
        Thread thread = new Thread(() -> {
            while (!stopped) {
                try {
                    step.run();
                    done.incrementAndGet();
                } catch (LockUnavailableException | ReleaseNotConfirmedException | LockLostException e) {
                    // Unknown, not confirmed, or lost: the promise is that nobody else was inside meanwhile.
                } catch (InterruptedException e) {
                    return;
                } catch (Throwable e) {
                    wrong.add(new AssertionError(state.get(), e));
                    return;
                }
            }
        });
        thread.setDaemon(true);
        threads.add(thread);
    }

    void start() {
        threads.forEach(Thread::start);
    }

    void awaitProgress(int more) {
        int before = done.get();
        Awaitility.await("progress")
                .atMost(Duration.ofSeconds(60))
                .until(() -> !wrong.isEmpty() || done.get() - before >= more);
    }

    void stop() throws InterruptedException {
        stopped = true;
        for (Thread thread : threads) {
            thread.join(60_000);
            assertThat(thread.isAlive()).isFalse();
        }
    }

    /** Continues until enough is done, however long that takes. */
    void run(int least) throws InterruptedException {
        start();
        awaitProgress(least);
        stop();
        assertRight(least);
    }

    void assertRight(int least) {
        assertThat(wrong).isEmpty();
        assertThat(done.get()).isGreaterThanOrEqualTo(least);
    }
}
