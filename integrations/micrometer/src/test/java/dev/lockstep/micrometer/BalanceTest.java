package dev.lockstep.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockLostException;
import dev.lockstep.LockOptions;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.Permit;
import dev.lockstep.ReleaseNotConfirmedException;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.TcpProxy;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Under faults: acquired = released + lost + not confirmed + still held, when no call and no release is under way. */
class BalanceTest {
    static {
        Awaitility.setDefaultTimeout(Duration.ofSeconds(20)); // a busy machine takes long
    }

    private static final int THREADS = 6;
    private static final int ENOUGH = 1_000;

    private final MeterRegistry registry = new SimpleMeterRegistry();
    private final Meters meters = new Meters(registry);
    private final AtomicLong acquired = new AtomicLong();
    private final AtomicLong released = new AtomicLong();
    private final AtomicLong lost = new AtomicLong();
    private final AtomicLong unconfirmed = new AtomicLong();
    private final AtomicLong cancelled = new AtomicLong();
    private volatile boolean over;

    @Test
    void onMemoryWithForcedReleasesAndShortHolds() throws Exception {
        try (LockClient client = LockClient.builder()
                .url("memory:balance")
                .observer(new LockMetrics(registry))
                .connect()) {
            torture(client, client, Duration.ofSeconds(2), 0, fault -> {});
        }
    }

    @Test
    @Tag("full")
    void onRedisWithABadNetwork() throws Exception {
        try (RedisServer server = Servers.require(() -> RedisServer.builder().start());
                TcpProxy proxy = TcpProxy.to(server);
                LockClient operator = LockClient.connect(server.url());
                LockClient client = LockClient.builder()
                        .url("redis://127.0.0.1:" + proxy.port())
                        .ttl(Duration.ofSeconds(1))
                        .requestTimeout(Duration.ofMillis(200))
                        .observer(new LockMetrics(registry))
                        .connect()) {
            Lease lasting = client.lock("balance:lasting").acquire();
            torture(client, operator, Duration.ofSeconds(15), 1, fault -> {
                switch (fault % 12) {
                    case 1 -> proxy.blackHole(); // for longer than the ttl
                    case 8 -> proxy.resetConnections();
                    case 10 -> proxy.dropReplies();
                    case 7, 11 -> proxy.heal();
                    default -> {}
                }
            });
            proxy.heal();
            assertThatThrownBy(lasting::close).isInstanceOf(LockLostException.class);
            assertThat(meters.counter(LockMeters.LOST, "reason", "expired")).isPositive();
            assertThat(meters.hold("unconfirmed")).isPositive();
        }
    }

    private interface Faults {
        void inject(int number) throws Exception;
    }

    /** Lets threads call for locks and permits during faults. So many other holds of the client are lost meanwhile. */
    private void torture(LockClient client, LockClient operator, Duration time, int othersLost, Faults faults)
            throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        List<Future<?>> workers = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            Random random = new Random(i);
            workers.add(threads.submit(() -> work(client, random)));
        }
        long end = System.nanoTime() + time.toNanos();
        // A busy machine takes longer for as many holds.
        for (int fault = 0; System.nanoTime() < end || acquired.get() <= ENOUGH; fault++) {
            faults.inject(fault);
            for (int i = 0; i < 4; i++) {
                operator.forceRelease("balance:" + i % 3);
                operator.forceRelease("permits:1");
                TimeUnit.MILLISECONDS.sleep(60);
            }
        }
        over = true;
        faults.inject(7); // the network is well again
        for (Future<?> worker : workers) {
            worker.get(30, TimeUnit.SECONDS);
        }
        threads.shutdown();
        Lease still = client.lock("balance:still-held").acquireUninterruptibly();
        Permit permit = client.semaphore("permits:still-held", 2).acquire();
        Awaitility.await()
                .atMost(Duration.ofSeconds(20))
                .untilAsserted(
                        () -> assertThat(meters.active()).isEqualTo(2)); // asynchronous releases may be under way
        long ended = meters.hold("released") + meters.hold("lost") + meters.hold("unconfirmed");
        assertThat(meters.acquire("acquired")).isEqualTo(ended + 2).isGreaterThan(ENOUGH);
        assertThat(meters.count(LockMeters.HOLD, "group", "permits")).isPositive();
        assertThat(meters.counter(LockMeters.LOST))
                .isEqualTo(meters.hold("lost"))
                .isPositive();
        assertThat(meters.gauge(LockMeters.WAITING)).isZero();
        // A call that was cancelled while it was being granted has a hold that no worker sees.
        long unseenReleased = meters.hold("released") - released.get();
        long unseenLost = meters.hold("lost") - lost.get() - othersLost;
        long unseenUnconfirmed = meters.hold("unconfirmed") - unconfirmed.get();
        assertThat(List.of(unseenReleased, unseenLost, unseenUnconfirmed)).allMatch(unseen -> unseen >= 0);
        assertThat(unseenReleased + unseenLost + unseenUnconfirmed).isLessThanOrEqualTo(cancelled.get());
        assertThat(released.get() + lost.get() + unconfirmed.get()).isEqualTo(acquired.get());
        still.close();
        permit.close();
    }

    private void work(LockClient client, Random random) {
        LockOptions brief = LockOptions.defaults().maxHold(Duration.ofMillis(2));
        while (!over) {
            String name = "balance:" + random.nextInt(3);
            DistributedLock lock = client.lock(name, random.nextInt(4) == 0 ? brief : LockOptions.defaults());
            try {
                switch (random.nextInt(7)) {
                    case 0 -> lock.tryAcquire(Duration.ofMillis(5)).ifPresent(this::hold);
                    case 1 -> lock.tryAcquire().ifPresent(this::hold);
                    case 2 -> {
                        CompletableFuture<Lease> future = lock.acquireAsync();
                        if (random.nextBoolean() || !cancel(future)) {
                            hold(future.join());
                        }
                    }
                    case 3 -> hold(client.readWriteLock(name).readLock().acquire());
                    case 4 -> hold(client.semaphore("permits:1", 2).acquire());
                    case 5 -> {
                        CompletableFuture<Permit> future =
                                client.semaphore("permits:1", 2).acquireAsync();
                        if (random.nextBoolean() || !cancel(future)) {
                            hold(future.join());
                        }
                    }
                    default -> hold(lock.acquire());
                }
            } catch (LockUnavailableException e) {
                // What the test is about.
            } catch (CompletionException e) {
                assertThat(e.getCause()).isInstanceOf(LockUnavailableException.class);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    private boolean cancel(CompletableFuture<?> future) {
        boolean done = future.cancel(false);
        if (done) {
            cancelled.incrementAndGet();
        }
        return done;
    }

    private void hold(Lease lease) {
        acquired.incrementAndGet();
        try {
            Thread.yield();
            lease.close();
            released.incrementAndGet();
        } catch (LockLostException e) {
            lost.incrementAndGet();
        } catch (ReleaseNotConfirmedException e) {
            unconfirmed.incrementAndGet();
        }
    }
}
