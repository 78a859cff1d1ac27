package dev.lockstep.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.DistributedLock;
import dev.lockstep.DistributedSemaphore;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockOptions;
import dev.lockstep.Permit;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The cost of locks, counted by the server. */
@Timeout(300)
class CountsTest {
    private Bench bench;

    @BeforeEach
    void start() {
        bench = new Bench(Servers.require(() -> RedisServer.builder().start()));
    }

    @AfterEach
    void stop() throws Exception {
        if (bench != null) {
            bench.close();
        }
    }

    /** With a ttl so long that no renewal is counted, and so much patience that nothing is asked again. */
    private LockClient client(String options) {
        return bench.patientClient(options);
    }

    private long commands() {
        return Calls.of(bench.server(), "evalsha", "eval", "subscribe");
    }

    /** With what scripts do inside. */
    private long work() {
        return bench.server()
                .command("INFO", "commandstats")
                .lines()
                .filter(line -> line.startsWith("cmdstat_") && !line.startsWith("cmdstat_info"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("[^=]*calls=(\\d+),.*", "$1")))
                .sum();
    }

    @Test
    void anUncontendedPairIsTwoCommands() {
        for (String options : new String[] {"", "?queue=off"}) {
            LockClient client = client(options);
            DistributedLock lock = client.lock("pair" + options);
            lock.lock();
            lock.unlock();
            long before = Calls.of(bench.server(), "evalsha", "eval");
            long workBefore = work();
            for (int i = 0; i < 100; i++) {
                lock.lock();
                lock.unlock();
            }
            assertThat(Calls.of(bench.server(), "evalsha", "eval") - before).isEqualTo(200);
            // Including the commands inside the two scripts.
            assertThat(work() - workBefore).isLessThanOrEqualTo(100 * 12);
        }
    }

    /** A reader that joins others, or has a permit beside others, is served by a short script, as an owner is. */
    @Test
    void aSecondReaderAndASecondPermitAreLittleWork() throws Exception {
        LockClient client = client("");
        LockClient other = client("");
        DistributedLock reading = client.readWriteLock("read").readLock();
        DistributedSemaphore semaphore = client.semaphore("permits", 10);
        try (Lease reader = other.readWriteLock("read").readLock().acquire();
                Permit permit = other.semaphore("permits", 10).acquire()) {
            reading.acquire().close();
            semaphore.acquire().close();
            long before = work();
            for (int i = 0; i < 50; i++) {
                reading.acquire().close();
            }
            long afterReaders = work();
            for (int i = 0; i < 50; i++) {
                semaphore.acquire().close();
            }
            // The two scripts of each included.
            assertThat(afterReaders - before).isLessThanOrEqualTo(50 * 23);
            assertThat(work() - afterReaders).isLessThanOrEqualTo(50 * 25);
            assertThat(reader.isValid() && permit.isValid()).isTrue();
        }
    }

    @Test
    void aSemaphoreWithOnePermitCostsAsManyRequestsAsAFairLock() throws Exception {
        LockClient client = client("");
        DistributedLock fair = client.lock("fair", LockOptions.defaults().fair());
        DistributedSemaphore semaphore = client.semaphore("semaphore", 1);
        fair.acquire().close();
        semaphore.acquire().close();
        long before = commands();
        for (int i = 0; i < 100; i++) {
            fair.acquire().close();
        }
        long ofTheLock = commands() - before;
        for (int i = 0; i < 100; i++) {
            semaphore.acquire().close();
        }
        assertThat(commands() - before - ofTheLock).isEqualTo(ofTheLock).isEqualTo(200);
    }

    @Test
    void severalPermitsCostAsMuchAsOneAndTheirSlotsOneRequestMore() throws Exception {
        DistributedSemaphore semaphore = client("").semaphore("several", 100);
        try (Permit first = semaphore.acquire(50)) {
            assertThat(first.slots()).hasSize(50); // the server knows all scripts from here on
        }
        long before = commands();
        long workBefore = work();
        Permit permit = semaphore.acquire(50);
        permit.close();
        assertThat(commands() - before).isEqualTo(2);
        assertThat(work() - workBefore).isLessThan(50);
        try (Permit slots = semaphore.acquire(50)) {
            before = commands();
            assertThat(slots.slots()).hasSize(50);
            assertThat(slots.slots()).hasSize(50);
            assertThat(commands() - before).isEqualTo(1);
        }
    }

    @Test
    void aReleasedPermitWakesOneWaiter() throws Exception {
        LockClient holder = client("");
        Permit held = holder.semaphore("awaited", 1).acquire();
        List<CompletableFuture<Permit>> waiting = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            waiting.add(client("").semaphore("awaited", 1).acquireAsync());
        }
        Bench.awaitWaiters(holder, "awaited", 5);
        long before = Calls.of(bench.server(), "publish");
        held.close();
        Bench.await("one is served", () -> waiting.stream().anyMatch(CompletableFuture::isDone));
        assertThat(Calls.of(bench.server(), "publish") - before).isEqualTo(1);
        assertThat(waiting.stream().filter(CompletableFuture::isDone)).hasSize(1);
        waiting.forEach(permit -> permit.thenCompose(Permit::closeAsync));
        for (CompletableFuture<Permit> permit : waiting) {
            permit.get(20, TimeUnit.SECONDS);
        }
    }

    @Test
    void aThousandLocksAreTakenWithTwoCommandsAndReleasedWithTwo() {
        List<String> names = ManyNamesTest.names(1_000);
        DistributedLock locks = client("").multiLock(names, LockOptions.defaults());
        locks.lock();
        locks.unlock();
        long before = commands();
        long workBefore = work();
        locks.lock();
        assertThat(commands() - before).isEqualTo(2);
        locks.unlock();
        assertThat(commands() - before).isEqualTo(4);
        // HMGET, EXISTS, HSET and PEXPIRE, then HGET, EXISTS and HDEL of each, and what the scripts do once.
        assertThat(work() - workBefore).isLessThanOrEqualTo(1_000 * 7 + 20);
    }

    @Test
    void aBusyLockAmongManyCostsOneRequestForThoseBeforeItAndOneForThoseBehind() throws Exception {
        List<String> names = ManyNamesTest.names(100);
        LockClient client = client("");
        LockClient rival = client("");
        DistributedLock locks = client.multiLock(names, LockOptions.defaults());
        locks.lock();
        locks.unlock();
        rival.lock(names.get(50)).lock();
        long before = commands();
        CompletableFuture<Lease> waiting = locks.acquireAsync();
        Bench.await("it waits", () -> client.snapshot().waiters().size() == 1); // which asks nobody
        assertThat(commands() - before).isLessThanOrEqualTo(2);
        rival.lock(names.get(50)).unlock();
        waiting.get(20, TimeUnit.SECONDS).closeAsync().get(20, TimeUnit.SECONDS);
    }

    @Test
    void aReentryAndAHandOffCostNothing() {
        LockClient client = client("");
        DistributedLock lock = client.lock("local");
        lock.lock();
        long before = commands();
        for (int i = 0; i < 100; i++) {
            lock.lock();
            lock.unlock();
        }
        assertThat(commands() - before).isZero();
        lock.unlock();
    }

    @Test
    void contentionByEightClientsCostsFourCommandsForEachAcquisition() throws Exception {
        for (LockOptions options : new LockOptions[] {
            LockOptions.defaults(), LockOptions.defaults().fair()
        }) {
            List<LockClient> clients = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                clients.add(client(""));
            }
            int rounds = 100;
            long before = commands();
            long start = System.nanoTime();
            AtomicInteger inside = new AtomicInteger();
            List<CompletableFuture<Void>> workers = new ArrayList<>();
            for (LockClient client : clients) {
                DistributedLock lock = client.lock("hot" + options.isFair(), options);
                workers.add(CompletableFuture.runAsync(
                        () -> {
                            for (int i = 0; i < rounds; i++) {
                                lock.lock();
                                assertThat(inside.incrementAndGet()).isEqualTo(1);
                                inside.decrementAndGet();
                                lock.unlock();
                            }
                        },
                        task -> new Thread(task).start()));
            }
            for (CompletableFuture<Void> worker : workers) {
                worker.get(120, TimeUnit.SECONDS);
            }
            // A waiter looks by itself from time to time, and more often on a slow machine.
            long looks = 2
                    * clients.size()
                    * Duration.ofNanos(System.nanoTime() - start).toSeconds();
            assertThat(commands() - before).isLessThanOrEqualTo(4L * rounds * clients.size() + looks);
        }
    }

    @Test
    void twoHundredThreadsOfOneClientAreOneWaiter() throws Exception {
        LockClient holder = client("");
        LockClient crowd = client("");
        Lease held = holder.lock("crowded").acquireAsync().get();
        CountDownLatch done = new CountDownLatch(200);
        for (int i = 0; i < 200; i++) {
            new Thread(() -> {
                        crowd.lock("crowded").lock();
                        crowd.lock("crowded").unlock();
                        done.countDown();
                    })
                    .start();
        }
        Bench.awaitWaiters(holder, "crowded", 1);
        Bench.letPass(Duration.ofMillis(300));
        assertThat(holder.inspect("crowded").waiters()).hasSize(1);
        long before = Calls.of(bench.server(), "evalsha");
        held.close();
        assertThat(done.await(20, TimeUnit.SECONDS)).isTrue();
        // The release, the look that takes it, the confirmation, the last release; and what a slow machine looks again.
        assertThat(Calls.of(bench.server(), "evalsha") - before).isLessThan(20);
    }

    @Test
    @Tag("full")
    void heldLocksAreRenewedByTheFiveHundred() throws Exception {
        int locks = 10_000;
        Duration ttl = Duration.ofSeconds(12);
        try (LockClient client = LockClient.builder()
                .url(bench.server().url())
                .ttl(ttl)
                .requestTimeout(Duration.ofSeconds(10))
                .connect()) {
            List<CompletableFuture<Lease>> leases = new ArrayList<>();
            for (int i = 0; i < locks; i++) {
                leases.add(client.lock("held-" + i).acquireAsync());
            }
            for (CompletableFuture<Lease> lease : leases) {
                lease.get(60, TimeUnit.SECONDS);
            }
            // Locks that were taken long before the first tick are renewed at once, so count after it.
            Bench.letPass(ttl.dividedBy(3));
            long before = commands();
            long start = System.nanoTime();
            Bench.letPass(ttl.dividedBy(2));
            long renewals = commands() - before;
            long periods = Duration.ofNanos(System.nanoTime() - start).dividedBy(ttl.dividedBy(3)) + 2;
            assertThat(renewals).isLessThanOrEqualTo(periods * locks / 500).isPositive();
            assertThat(leases).allMatch(lease -> lease.join().isValid());
            leases.forEach(lease -> lease.join().closeAsync());
            Bench.await("all is released", () -> client.list("").isEmpty());
        }
    }

    @Test
    void aFairHandOffNeedsNothingOfTheWaiter() throws Exception {
        LockOptions fair = LockOptions.defaults().fair();
        LockClient holder = client("");
        TcpProxy proxy = bench.proxy();
        LockClient waiter = bench.client("redis://127.0.0.1:" + proxy.port(), Duration.ofSeconds(30), Bench.PATIENCE);
        Lease held = holder.lock("fair", fair).acquire();
        CompletableFuture<Lease> waiting = waiter.lock("fair", fair).acquireAsync();
        Bench.awaitWaiters(holder, "fair", 1);
        Bench.letPass(Duration.ofMillis(100));
        proxy.stall(TcpProxy.Direction.REQUESTS);
        held.close();
        // It can make no request, so it has this from an earlier answer.
        Lease lease = waiting.get(20, TimeUnit.SECONDS);
        assertThat(lease.isValid()).isTrue();
        // It was given for as long as the waiter's place was kept, and is confirmed to the full ttl.
        assertThat(lease.remaining()).isLessThan(Duration.ofSeconds(5));
        proxy.heal();
        Bench.await("it is confirmed", () -> lease.remaining().compareTo(Duration.ofSeconds(15)) > 0);
        lease.close();
    }
}
