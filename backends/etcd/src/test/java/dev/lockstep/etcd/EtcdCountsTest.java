package dev.lockstep.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.DistributedLock;
import dev.lockstep.DistributedSemaphore;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockOptions;
import dev.lockstep.Permit;
import dev.lockstep.servers.TcpProxy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** The cost of locks, by the server's own counters. */
class EtcdCountsTest extends SingleMemberTestCase {

    /** With a ttl so long that no renewal is counted. */
    @Override
    LockClient connect() {
        return closedAfterwards(builder()
                .url("etcd://" + server.address())
                .ttl(Duration.ofMinutes(30))
                .requestTimeout(Duration.ofSeconds(20))
                .connect());
    }

    private static long requests(String method) {
        return (long) server.metric("grpc_server_started_total", "grpc_method=\"" + method + "\"");
    }

    private static long allRequests() {
        return (long) server.metric("grpc_server_started_total", "");
    }

    private static long messages(String method) {
        return (long) server.metric("grpc_server_msg_received_total", "grpc_method=\"" + method + "\"");
    }

    private static long watchers() {
        return (long) server.metric("etcd_debugging_mvcc_watcher_total", "");
    }

    private static long watchStreams() {
        return (long) server.metric("etcd_debugging_mvcc_watch_stream_total", "");
    }

    private static long events() {
        return (long) server.metric("etcd_debugging_mvcc_events_total", "");
    }

    @Test
    void anUncontendedPairIsTwoTransactions() {
        LockClient client = connect();
        client.lock(NAME).lock();
        client.lock(NAME).unlock();
        long leastTransactions = Long.MAX_VALUE;
        long least = Long.MAX_VALUE;
        for (int round = 0; round < 10; round++) { // a hold that a busy machine stretches is watched, which costs more
            long all = allRequests();
            long transactions = requests("Txn");
            for (int i = 0; i < 20; i++) {
                client.lock(NAME).lock();
                client.lock(NAME).unlock();
            }
            leastTransactions = Math.min(leastTransactions, requests("Txn") - transactions);
            least = Math.min(least, allRequests() - all);
        }
        assertThat(leastTransactions).isEqualTo(40);
        assertThat(least).isEqualTo(40);
    }

    /** Once a client has found a lock unused some times, it asks without what is needed only if others are there. */
    @Test
    void aRequestForALockThatNobodyElseUsesHasFewBytes() {
        LockClient client = connect();
        long start = received();
        client.lock(NAME).lock();
        client.lock(NAME).unlock();
        long first = received() - start;
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 20; i++) {
            start = received();
            client.lock(NAME).lock();
            client.lock(NAME).unlock();
            least = Math.min(least, received() - start);
        }
        assertThat(least).isLessThan(first * 3 / 4);
    }

    @Test
    void aLockThatIsFoundHeldAfterManyUsesAloneCostsOneRequestMoreAndOnlyOnce() throws Exception {
        LockClient client = connect();
        LockClient other = connect();
        for (int i = 0; i < 10; i++) {
            client.lock(NAME).lock();
            client.lock(NAME).unlock();
        }
        Lease held = other.lock(NAME).acquire();
        long revision = gateway.revision();
        long transactions = requests("Txn");
        assertThat(client.lock(NAME).tryLock()).isFalse();
        assertThat(requests("Txn") - transactions).isEqualTo(2);
        assertThat(client.lock(NAME).tryLock()).isFalse();
        assertThat(requests("Txn") - transactions).isEqualTo(3);
        assertThat(gateway.revision()).isEqualTo(revision);
        CompletableFuture<Lease> waiting = client.lock(NAME).acquireAsync();
        await("it waits", () -> other.inspect(NAME).waiters().size() == 1);
        held.close();
        waiting.get(20, TimeUnit.SECONDS).close();
    }

    /** Each of many locks costs what one does, but they are on their way together. */
    @Test
    void aHundredLocksAreTakenAndReleasedInTheTimeOfAFew() {
        List<String> names = IntStream.range(0, 100).mapToObj(i -> "many-" + i).toList();
        DistributedLock near = connect().multiLock(names, LockOptions.defaults());
        long transactions = requests("Txn");
        near.lock();
        assertThat(requests("Txn") - transactions).isEqualTo(100);
        near.unlock();
        assertThat(requests("Txn") - transactions).isEqualTo(200);
        try (TcpProxy proxy = TcpProxy.to(server);
                LockClient client = builder()
                        .url("etcd://127.0.0.1:" + proxy.port())
                        .ttl(Duration.ofMinutes(30))
                        .connect()) {
            DistributedLock far = client.multiLock(names, LockOptions.defaults());
            proxy.delay(Duration.ofMillis(250));
            long start = System.nanoTime();
            far.lock();
            far.unlock();
            // One after another, they would take a hundred seconds.
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(25));
            proxy.delay(Duration.ZERO);
        }
    }

    private static long received() {
        return (long) server.metric("etcd_network_client_grpc_received_bytes_total", "");
    }

    @Test
    void aBrieflyHeldLockCostsNoWatch() {
        LockClient client = connect();
        client.lock(NAME).lock();
        client.lock(NAME).unlock();
        long messages = messages("Watch");
        for (int i = 0; i < 20; i++) {
            client.lock(NAME).lock();
            client.lock(NAME).unlock();
        }
        // A pair that a busy machine stretched beyond the moment may have cost one.
        assertThat(messages("Watch") - messages).isLessThan(20);
    }

    @Test
    void tryLockOfABusyLockWritesNothing() {
        LockClient holder = connect();
        LockClient other = connect();
        holder.lock(NAME).lock();
        long revision = gateway.revision();
        long transactions = requests("Txn");
        assertThat(other.lock(NAME).tryLock()).isFalse();
        assertThat(other.readWriteLock(NAME).readLock().tryLock()).isFalse();
        assertThat(requests("Txn") - transactions).isEqualTo(2);
        assertThat(gateway.revision()).isEqualTo(revision);
        holder.lock(NAME).unlock();
    }

    @Test
    void aHandOffIsOneEventAndTwoTransactions() throws Exception {
        List<LockClient> clients = List.of(connect(), connect(), connect(), connect());
        LockClient operator = connect();
        Lease held = clients.get(0).lock(NAME).acquireAsync().get();
        int asItShouldBe = 0;
        List<String> seen = new ArrayList<>();
        for (int round = 1; round <= 20; round++) {
            List<CompletableFuture<Lease>> waiting = new ArrayList<>();
            for (int i = 1; i < 4; i++) {
                waiting.add(clients.get((round + i - 1) % 4).lock(NAME).acquireAsync());
                int waiters = i;
                await("it waits", () -> operator.inspect(NAME).waiters().size() == waiters);
            }
            awaitQuiet(); // watches come into place, and are followed by a range
            long transactions = requests("Txn");
            long all = allRequests();
            long events = events();
            held.close();
            held = waiting.get(0).get();
            transactions = requests("Txn") - transactions;
            all = allRequests() - all;
            events = events() - events;
            seen.add(transactions + " transactions, " + all + " requests, " + events + " events");
            // The holder cancels its own watch first, but on another stream: its deletion may still reach that watch.
            if (transactions == 2 && all == 2 && (events == 1 || events == 2)) {
                asItShouldBe++;
            }
            waiting.get(1).cancel(false);
            waiting.get(2).cancel(false);
            await("nobody waits", () -> operator.inspect(NAME).waiters().isEmpty());
        }
        held.close();
        // On a busy machine it may be quiet before all is in place, and what is late is counted too; but not mostly.
        assertThat(asItShouldBe).as("%s", seen).isGreaterThan(10);
    }

    @Test
    void aPairOfAPermitIsTwoTransactionsWhateverOthersHold() throws Exception {
        Permit other = connect().semaphore(NAME, 3).acquire();
        DistributedSemaphore semaphore = connect().semaphore(NAME, 3);
        semaphore.acquire().close();
        long all = allRequests();
        long transactions = requests("Txn");
        for (int i = 0; i < 100; i++) {
            semaphore.acquire().close();
        }
        assertThat(requests("Txn") - transactions).isEqualTo(200);
        assertThat(allRequests() - all).isEqualTo(200);
        other.close();
    }

    @Test
    void tryAcquireWritesNothingIfThereIsNoPermit() throws Exception {
        Permit other = connect().semaphore(NAME, 2).acquire();
        DistributedSemaphore semaphore = connect().semaphore(NAME, 2);
        long transactions = requests("Txn");
        Permit last = semaphore.tryAcquire().orElseThrow();
        assertThat(requests("Txn") - transactions).isEqualTo(2); // sees what others hold, and enters if nobody has come
        long revision = gateway.revision();
        transactions = requests("Txn");
        assertThat(semaphore.tryAcquire()).isEmpty();
        assertThat(requests("Txn") - transactions).isEqualTo(1);
        assertThat(gateway.revision()).isEqualTo(revision);
        last.close();
        other.close();
    }

    /** The slots are found by a read and a write, and deleted with the permit. */
    @Test
    void slotsCostTwoRequestsIfTheyAreAskedFor() throws Exception {
        DistributedSemaphore semaphore = connect().semaphore(NAME, 2);
        long slots = Long.MAX_VALUE;
        long release = Long.MAX_VALUE;
        for (int round = 0; round < 10; round++) { // a hold that a busy machine stretches is watched, which costs more
            Permit permit = semaphore.acquire();
            long all = allRequests();
            assertThat(permit.slot()).isZero();
            assertThat(permit.slot()).isZero();
            slots = Math.min(slots, allRequests() - all);
            all = allRequests();
            permit.close();
            release = Math.min(release, allRequests() - all);
            assertThat(gateway.list("lockstep/" + namespace + "/slot/")).isEmpty();
        }
        assertThat(slots).isEqualTo(2);
        assertThat(release).isEqualTo(1);
    }

    @Test
    void aReleaseOfAPermitCostsAFewRequestsHoweverManyWait() throws Exception {
        List<LockClient> clients = List.of(connect(), connect(), connect());
        LockOptions fair = LockOptions.defaults().fair();
        Permit one = clients.get(0).semaphore(NAME, 2, fair).acquire();
        Permit two = clients.get(1).semaphore(NAME, 2, fair).acquire();
        List<CompletableFuture<Permit>> waiting = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            waiting.add(clients.get(i % 3).semaphore(NAME, 2, fair).acquireAsync());
            int waiters = i + 1;
            await("it waits", () -> clients.get(0).inspect(NAME).waiters().size() == waiters);
        }
        awaitQuiet();
        long all = allRequests();
        long events = events();
        one.close();
        Permit next = waiting.get(0).get();
        awaitQuiet();
        // The release, a look of the next holder, and what makes the one behind it the first that waits.
        assertThat(allRequests() - all).isLessThanOrEqualTo(6);
        assertThat(events() - events).isLessThanOrEqualTo(6);
        waiting.subList(1, 30).forEach(future -> future.cancel(false));
        next.close();
        two.close();
        await("nothing is left", () -> gateway.list(lockPrefix(NAME)).isEmpty());
    }

    @Test
    void aSemaphoreWithOnePermitIsHandedOffAsALockIs() throws Exception {
        List<LockClient> clients = List.of(connect(), connect(), connect());
        LockOptions fair = LockOptions.defaults().fair();
        Permit held = clients.get(0).semaphore(NAME, 1, fair).acquire();
        List<CompletableFuture<Permit>> waiting = new ArrayList<>();
        for (int i = 1; i < 3; i++) {
            waiting.add(clients.get(i).semaphore(NAME, 1, fair).acquireAsync());
            int waiters = i;
            await("it waits", () -> clients.get(0).inspect(NAME).waiters().size() == waiters);
        }
        awaitQuiet();
        long all = allRequests();
        held.close();
        Permit next = waiting.get(0).get();
        awaitQuiet();
        assertThat(allRequests() - all).isEqualTo(2); // the release, and a look afterwards
        next.close();
        waiting.get(1).get().close();
    }

    @Test
    void aSemaphoreWithOnePermitCostsAsManyRequestsAsAFairLock() throws Throwable {
        LockOptions fair = LockOptions.defaults().fair();
        LockClient client = connect();
        DistributedLock lock = client.lock("lock", fair);
        DistributedSemaphore semaphore = client.semaphore("semaphore", 1, fair);
        assertThat(leastRequests(() -> semaphore.acquire().close()))
                .isEqualTo(leastRequests(() -> lock.acquire().close()))
                .isEqualTo(2);
        assertThat(leastRequests(() -> semaphore.tryAcquire().orElseThrow().close()))
                .isEqualTo(leastRequests(() -> lock.tryAcquire().orElseThrow().close()))
                .isEqualTo(2);
        LockClient other = connect();
        try (Lease held = other.lock("lock", fair).acquire();
                Permit permit = other.semaphore("semaphore", 1, fair).acquire()) {
            assertThat(leastRequests(() -> assertThat(semaphore.tryAcquire()).isEmpty()))
                    .isEqualTo(leastRequests(() -> assertThat(lock.tryAcquire()).isEmpty()))
                    .isEqualTo(1);
            assertThat(held.isValid()).isTrue();
            assertThat(permit.isValid()).isTrue();
        }
    }

    /** The requests of a step that is made again and again: the first has a session to open, and a slow one is watched. */
    private static long leastRequests(Executable step) throws Throwable {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 10; i++) {
            long before = allRequests();
            step.execute();
            least = Math.min(least, allRequests() - before);
        }
        return least;
    }

    /** Making an exception with its stack took longer than the rest of a call. */
    @Test
    void aCallThatSucceedsMakesNoException(@TempDir Path folder) throws Exception {
        LockClient client = connect();
        List<String> made = new ArrayList<>();
        try (Recording recording = new Recording()) {
            recording.enable("jdk.JavaExceptionThrow");
            recording.start();
            for (int i = 0; i < 20; i++) {
                client.lock(NAME).lock();
                client.lock(NAME).unlock();
            }
            recording.stop();
            Path file = folder.resolve("exceptions.jfr");
            recording.dump(file);
            for (RecordedEvent event : RecordingFile.readAllEvents(file)) {
                boolean exception = event.getEventType().getName().equals("jdk.JavaExceptionThrow");
                String type = exception ? event.getClass("thrownClass").getName() : "";
                if (type.startsWith("io.grpc.Status") || type.startsWith("dev.lockstep")) {
                    made.add(type);
                }
            }
        }
        assertThat(made).isEmpty();
    }

    /** Waits until no request and no watch message has come for a while. */
    private static void awaitQuiet() {
        long[] last = {-1};
        Awaitility.await("quiet")
                .atMost(Duration.ofSeconds(30))
                .pollInterval(Duration.ofMillis(60))
                .until(() -> {
                    long now = allRequests() + messages("Watch");
                    boolean quiet = now == last[0];
                    last[0] = now;
                    return quiet;
                });
    }

    @Test
    @Tag("full")
    void tenThousandHeldLocksCostTheKeepalivesOfAFewLeases() throws Exception {
        LockClient client = closedAfterwards(builder()
                .url("etcd://" + server.address())
                .ttl(Duration.ofSeconds(15)) // long enough that no keepalive is late on a busy machine
                .connect());
        int leasesBefore = gateway.leases();
        List<CompletableFuture<Lease>> acquiring = new ArrayList<>();
        Semaphore inFlight = new Semaphore(200);
        for (int i = 0; i < 10_000; i++) {
            inFlight.acquire();
            acquiring.add(client.lock("held-" + i).acquireAsync().whenComplete((lease, error) -> inFlight.release()));
        }
        List<Lease> leases = new ArrayList<>();
        for (CompletableFuture<Lease> future : acquiring) {
            leases.add(future.get());
        }
        awaitQuiet();
        int few = gateway.leases() - leasesBefore + 1;
        assertThat(few).isBetween(10, 11); // a thousand locks each, and perhaps one that was opened in advance
        long keepalives = requests("LeaseKeepAlive");
        long all = allRequests();
        long messages = messages("Watch");
        long start = System.nanoTime();
        TimeUnit.SECONDS.sleep(16); // more than a ttl: what is measured is what happens while time passes
        keepalives = requests("LeaseKeepAlive") - keepalives;
        all = allRequests() - all;
        // Every five seconds a keepalive and a read for each; one more of both for a late tick.
        long ticks = Duration.ofNanos(System.nanoTime() - start).toSeconds() / 5 + 1;
        assertThat(keepalives).isBetween(2L * few, ticks * few);
        assertThat(all).isLessThanOrEqualTo(2 * ticks * few);
        assertThat(messages("Watch") - messages).isLessThanOrEqualTo((ticks + 1) * few);
        assertThat(leases).allMatch(Lease::isValid);
        assertThat(watchStreams()).isEqualTo(1);
    }

    @Test
    @Tag("full")
    void fiveHundredWaitersOnFiveHundredNamesShareOneWatchStream() throws Exception {
        LockClient holder = connect();
        List<Lease> held = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            held.add(holder.lock("name-" + i).acquireAsync().get());
        }
        long streams = watchStreams();
        LockClient waiter = connect();
        List<CompletableFuture<Lease>> waiting = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            waiting.add(waiter.lock("name-" + i).acquireAsync());
        }
        await(
                "all wait",
                () -> holder.list("name-").stream()
                        .allMatch(lock -> lock.waiters().size() == 1));
        assertThat(watchStreams() - streams).isEqualTo(1);
        for (Lease lease : held) {
            lease.close();
        }
        for (CompletableFuture<Lease> future : waiting) {
            future.get().close();
        }
    }

    @Test
    void manyFairWaitersCostAFewRequestsForEachRelease() throws Exception {
        List<LockClient> clients = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            // The server sorts the queue at each look: hundreds of looks at once take it seconds.
            clients.add(closedAfterwards(builder()
                    .url("etcd://" + server.address())
                    .requestTimeout(Duration.ofSeconds(20))
                    .connect()));
        }
        LockOptions fair = LockOptions.defaults().fair();
        List<CompletableFuture<Void>> done = new ArrayList<>();
        int waiters = Integer.getInteger("lockstep.etcd.waiters", 300);
        Lease held = clients.get(0).lock(NAME, fair).acquireAsync().get();
        for (int i = 0; i < waiters; i++) {
            done.add(clients.get(i % 10).lock(NAME, fair).acquireAsync().thenCompose(Lease::closeAsync));
        }
        await("all wait", () -> clients.get(0).inspect(NAME).waiters().size() == waiters);
        awaitQuiet();
        long all = allRequests();
        long events = events();
        held.close();
        for (CompletableFuture<Void> future : done) {
            future.get();
        }
        // A look and a delete each, and the first delete.
        assertThat(allRequests() - all).isLessThan(2 * waiters + 100);
        // A waiter hears of the one before it; a holder of a moment is not even watched.
        assertThat(events() - events).isLessThan(2 * waiters);
    }

    @Test
    void cancellingAThousandAcquiresAtRandomLeavesNothing() throws Exception {
        int leases = gateway.leases();
        long watchers = watchers();
        long streams = watchStreams();
        long seed = ThreadLocalRandom.current().nextLong();
        Random random = new Random(seed);
        List<LockClient> clients = List.of(connect(), connect(), connect());
        Lease held = clients.get(0).lock("lock-0").acquireAsync().get();
        List<CompletableFuture<Lease>> futures = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            LockClient client = clients.get(random.nextInt(3));
            var lock = random.nextBoolean()
                    ? client.lock("lock-" + random.nextInt(10))
                    : client.readWriteLock("lock-" + random.nextInt(10)).readLock();
            CompletableFuture<Lease> future = lock.acquireAsync();
            future.thenAccept(Lease::closeAsync);
            futures.add(future);
            while (random.nextInt(3) == 0) {
                futures.get(random.nextInt(futures.size())).cancel(false);
            }
        }
        futures.forEach(future -> future.cancel(false));
        held.close();
        await(
                "no key is left, seed " + seed,
                () -> gateway.list("lockstep/" + namespace + "/lock/").isEmpty());
        await("one watch a client is left, seed " + seed, () -> watchers() == watchers + 3);
        assertThat(watchStreams()).isEqualTo(streams + 3);
        assertThat(gateway.leases()).isEqualTo(leases + 3);
        assertThat(gateway.list("lockstep/" + namespace + "/")).hasSize(3);
        clients.forEach(LockClient::close);
        await("no stream is left", () -> watchStreams() == streams && watchers() == watchers);
        assertThat(gateway.leases()).isEqualTo(leases);
        assertThat(gateway.list("lockstep/" + namespace + "/")).isEmpty();
    }
}
