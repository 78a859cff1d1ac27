package dev.lockstep.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.servers.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The cost of locks on several independent servers, counted by the servers; and how many times their clients wait for
 * them.
 */
@Timeout(180)
class RedlockCountsTest {
    private static final Duration TTL = Duration.ofSeconds(24);
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private Redlocks set;

    private LockClient client(int servers) {
        if (set == null) {
            set = Redlocks.start(servers);
        }
        return set.client(Redlocks.url(set.servers()), TTL, TIMEOUT);
    }

    @AfterEach
    void stop() throws Exception {
        if (set != null) {
            set.close();
        }
    }

    private List<Long> calls() {
        return set.servers().stream()
                .map(server -> Calls.of(server, "evalsha", "eval"))
                .toList();
    }

    private boolean isFreeEverywhere(String name) {
        return set.field("lockstep:{lockstep:" + name + "}", "owner").stream().allMatch(String::isEmpty);
    }

    @Test
    void anUncontendedPairIsThreeCommandsAtEachServer() {
        DistributedLock lock = client(5).lock("pair");
        lock.lock();
        lock.unlock();
        Bench.await("the first pair is done everywhere", () -> isFreeEverywhere("pair"));
        List<Long> before = calls();
        for (int i = 0; i < 20; i++) {
            lock.lock();
            lock.unlock();
        }
        List<Long> after = calls();
        long all = 0;
        for (int i = 0; i < before.size(); i++) {
            // Of the pair before, what a majority did not need may come late.
            assertThat(after.get(i) - before.get(i)).isLessThanOrEqualTo(3 * 20 + 3);
            all += after.get(i) - before.get(i);
        }
        assertThat(all).isGreaterThanOrEqualTo(3 * 3 * 20); // what a majority needs at least
    }

    /** All answers are late by the same time, so that a call takes as many of it as it has rounds. */
    @Test
    void twoRoundsAcquireAndOneReleases() throws Exception {
        client(5);
        List<TcpProxy> proxies = set.proxies();
        DistributedLock lock = set.client(proxies, TTL, TIMEOUT).lock("rounds");
        lock.lock();
        lock.unlock();
        Duration late = Duration.ofSeconds(1);
        proxies.forEach(proxy -> proxy.delay(TcpProxy.Direction.REPLIES, late));
        // A busy machine can only make it longer, so the shortest of some tries counts.
        long toAcquire = Long.MAX_VALUE;
        long toRelease = Long.MAX_VALUE;
        for (int i = 0; i < 5 && (toAcquire > 2 || toRelease > 1); i++) {
            long start = System.nanoTime();
            Lease lease = lock.acquire();
            long held = System.nanoTime();
            lease.close();
            long released = System.nanoTime();
            toAcquire = Math.min(toAcquire, Duration.ofNanos(held - start).dividedBy(late));
            toRelease = Math.min(toRelease, Duration.ofNanos(released - held).dividedBy(late));
        }
        assertThat(toAcquire).isEqualTo(2);
        assertThat(toRelease).isEqualTo(1);
    }

    @Test
    void connectionsAndThreadsAreBoundedByServersAndNotByLocks() throws Exception {
        Set<Thread> before = Thread.getAllStackTraces().keySet(); // of clients that were closed a moment ago
        LockClient holder = client(5);
        LockClient waiter = client(5);
        List<Lease> held = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            held.add(holder.lock("held-" + i).acquireAsync().get());
            waiter.lock("held-" + i).acquireAsync().thenAccept(Lease::closeAsync);
        }
        int servers = set.servers().size();
        long threads = Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("lockstep-redis") && !before.contains(thread))
                .count();
        assertThat(threads).isLessThanOrEqualTo(2L * servers * 7);
        assertThat(set.servers()).allMatch(server -> Integer.parseInt(server.info("connected_clients")) <= 2 * 5 + 2);
        held.forEach(Lease::closeAsync);
        Bench.await("all is released", () -> waiter.list("held-").isEmpty());
    }

    @Tag("full")
    @Test
    void heldLocksAreRenewedByTheFiveHundredOnEachServer() throws Exception {
        int locks = 10_000;
        LockClient client = client(3);
        List<Lease> leases = new ArrayList<>();
        while (leases.size() < locks) {
            List<CompletableFuture<Lease>> some = new ArrayList<>();
            for (int i = 0; i < 500; i++) {
                some.add(client.lock("held-" + (leases.size() + i)).acquireAsync());
            }
            for (CompletableFuture<Lease> lease : some) {
                leases.add(lease.get(60, TimeUnit.SECONDS));
            }
        }
        // Locks that were taken long before the first tick are renewed at once, so count after it.
        Duration period = TTL.dividedBy(3);
        Bench.letPass(period);
        long tick = locks / 500;
        long start = System.nanoTime();
        List<Long> before = calls();
        Bench.await("all are renewed on each server", () -> renewals(before) >= tick);
        List<Long> after = calls();
        long ticks = Duration.ofNanos(System.nanoTime() - start).dividedBy(period) + 2;
        for (int i = 0; i < before.size(); i++) {
            assertThat(after.get(i) - before.get(i)).isBetween(tick, ticks * tick);
        }
        assertThat(leases.stream().filter(lease -> !lease.isValid())).isEmpty();
        leases.forEach(Lease::closeAsync);
        Bench.await("all is released", () -> client.list("").isEmpty());
    }

    /** How many commands each server has had at least. */
    private long renewals(List<Long> before) {
        List<Long> now = calls();
        return IntStream.range(0, now.size())
                .mapToLong(i -> now.get(i) - before.get(i))
                .min()
                .orElseThrow();
    }
}
