package dev.lockstep.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockOptions;
import dev.lockstep.servers.TcpProxy;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The cost of locks, counted by the server for each client. */
@Timeout(120)
class CostTest extends CountedClients {
    @Test
    void anUncontendedPairCostsThreeRequestsAndReentryNone() {
        // In turn with another client, so that neither has the lock many times in a row.
        takeTurns(1);
        long before = requests(client);
        takeTurns(TIMES);
        assertThat(requests(client) - before).isBetween(3L * TIMES, 3L * TIMES + NOISE);
    }

    private void takeTurns(int times) {
        DistributedLock lock = client.lock("pair");
        DistributedLock rivals = rival.lock("pair");
        for (int i = 0; i < times; i++) {
            lock.lock();
            lock.lock();
            lock.unlock();
            lock.unlock();
            rivals.lock();
            rivals.unlock();
        }
    }

    @Test
    void aClientAloneWithALockListsNoQueue() throws Exception {
        DistributedLock lock = client.lock("alone");
        takeAndGiveBack(lock, 15);
        long most = 5L * BLOCK / 2; // and one more for each hold that took long on a busy machine
        assertThat(leastOfBlocks(most, () -> requests(client), times -> takeAndGiveBack(lock, times)))
                .isBetween(2L * BLOCK, most);
        // Until another client was there, and for some time after that.
        rival.lock("alone").lock();
        rival.lock("alone").unlock();
        takeAndGiveBack(lock, 1);
        long before = requests(client);
        takeAndGiveBack(lock, 4);
        assertThat(requests(client) - before).isBetween(3L * 4, 3L * 4 + NOISE);
    }

    /**
     * To leave out the list and to need it costs a round trip, which must not recur for as long as others have the
     * lock.
     */
    @Test
    void aClientThatIsNoLongerAloneListsAtOnceAgain() {
        try (TcpProxy proxy = TcpProxy.to(server)) {
            DistributedLock lock = open("far", proxy.port(), "").lock("crowded");
            takeAndGiveBack(lock, 15);
            rival.lock("crowded").lock();
            assertThat(lock.tryLock()).isFalse();
            Duration eachWay = Duration.ofMillis(250); // long enough for a busy machine to count as none
            proxy.delay(eachWay);
            // One more round trip would be there in each try; a busy machine delays some, but not all.
            long best = Long.MAX_VALUE;
            for (int i = 0; i < 30 && best > eachWay.multipliedBy(6).toNanos(); i++) {
                long start = System.nanoTime();
                assertThat(lock.tryLock()).isFalse();
                best = Math.min(best, System.nanoTime() - start);
            }
            proxy.delay(Duration.ZERO);
            assertThat(Duration.ofNanos(best)).isBetween(eachWay.multipliedBy(4), eachWay.multipliedBy(6));
            rival.lock("crowded").unlock();
        }
    }

    private static void takeAndGiveBack(DistributedLock lock, int times) {
        for (int i = 0; i < times; i++) {
            lock.lock();
            lock.unlock();
        }
    }

    @Test
    void aShortHoldSetsNoWatch() throws Exception {
        DistributedLock lock = client.lock("short");
        takeAndGiveBack(lock, 1);
        long most = BLOCK / 2L - 1;
        assertThat(leastOfBlocks(most, () -> events(client), times -> takeAndGiveBack(lock, times)))
                .as("events, except for holds that took long on a busy machine")
                .isLessThanOrEqualTo(most);
    }

    @Test
    void aHandOffCostsADeleteAndAList() throws Exception {
        List<Long> deletes = new ArrayList<>();
        List<Long> lists = new ArrayList<>();
        LockClient waiter = open("waiter", server.port(), "");
        for (int i = 0; i < TIMES; i++) {
            Lease held = client.lock("hand-off").acquire();
            CompletableFuture<Lease> waiting = waiter.lock("hand-off").acquireAsync();
            awaitWaiters("hand-off", 1);
            long holdersBefore = requests(client);
            long waitersBefore = requests(waiter);
            held.close();
            Lease next = waiting.get(20, TimeUnit.SECONDS);
            deletes.add(requests(client) - holdersBefore);
            lists.add(requests(waiter) - waitersBefore);
            next.close();
        }
        // Heartbeats come between, and on a busy machine what belongs to the wait may come late; but not mostly.
        assertThat(middle(deletes)).as("%s", deletes).isEqualTo(1);
        assertThat(middle(lists)).as("%s", lists).isLessThanOrEqualTo(1);
    }

    private static long middle(List<Long> figures) {
        return figures.stream().sorted().toList().get(figures.size() / 2);
    }

    @Test
    void aTryThatFailsLeavesNothing() {
        client.lock("busy").lock();
        long holdersBefore = requests(client);
        long before = requests(rival);
        long nodes = server.metric("zk_znode_count");
        long ephemerals = server.metric("zk_ephemerals_count");
        for (int i = 0; i < TIMES; i++) {
            assertThat(rival.lock("busy").tryLock()).isFalse();
        }
        assertThat(requests(rival) - before).isBetween(3L * TIMES, 3L * TIMES + NOISE);
        // The holder looks whether it is wanted when the node comes and when it goes.
        assertThat(requests(client) - holdersBefore).isLessThanOrEqualTo(2L * TIMES + NOISE);
        assertThat(server.metric("zk_znode_count")).isEqualTo(nodes);
        assertThat(server.metric("zk_ephemerals_count")).isEqualTo(ephemerals);
        client.lock("busy").unlock();
    }

    @Test
    void aHolderAsksNothingAndAWaiterNothingBeforeAThirdOfTheTtl() throws Exception {
        List<Lease> held = new ArrayList<>();
        for (int i = 0; i < TIMES; i++) {
            held.add(client.lock("quiet-" + i).acquireAsync().get());
        }
        LockClient waiter = open("waiter", server.port(), "");
        List<CompletableFuture<Lease>> waiting = new ArrayList<>();
        for (int i = 0; i < TIMES; i++) {
            waiting.add(waiter.lock("quiet-" + i).acquireAsync());
            awaitWaiters("quiet-" + i, 1);
        }
        long holdersBefore = requests(client);
        long waitersBefore = requests(waiter);
        TimeUnit.SECONDS.sleep(2); // what is measured is what happens while time passes
        assertThat(requests(client) - holdersBefore).isLessThanOrEqualTo(NOISE);
        assertThat(requests(waiter) - waitersBefore).isLessThanOrEqualTo(NOISE);
        for (int i = 0; i < TIMES; i++) {
            held.get(i).close();
            waiting.get(i).get(20, TimeUnit.SECONDS).close();
        }
    }

    /** No wait depends on one event. */
    @ParameterizedTest
    @ValueSource(strings = {"", "?queue=off"})
    void aWaiterReadsItsBlockerEveryThirdOfTheTtl(String options) throws Exception {
        Duration ttl = Duration.ofSeconds(12);
        List<Lease> held = new ArrayList<>();
        LockClient holder = open("holder", server.port(), options);
        LockClient waiter = open("waiter", server.port(), options, ttl);
        List<CompletableFuture<Lease>> waiting = new ArrayList<>();
        for (int i = 0; i < TIMES; i++) {
            held.add(holder.lock("looked-at-" + i).acquireAsync().get(20, TimeUnit.SECONDS));
            waiting.add(waiter.lock("looked-at-" + i).acquireAsync());
        }
        long holdersBefore = requests(holder);
        long before = requests(waiter);
        TimeUnit.NANOSECONDS.sleep(ttl.toNanos()); // what is measured is what happens while time passes
        // Two or three times, as the first of them comes at any time; and twelve heartbeats.
        assertThat(requests(waiter) - before).isBetween(2L * TIMES, 4L * TIMES);
        assertThat(requests(holder) - holdersBefore).isLessThanOrEqualTo(NOISE);
        for (int i = 0; i < TIMES; i++) {
            held.get(i).close();
            waiting.get(i).get(20, TimeUnit.SECONDS).close();
        }
    }

    /** Threads of one client follow each other without the server, until it reports that another client waits. */
    @Test
    void aHolderThatHandsOffLocallyLearnsThatItIsWanted() throws Exception {
        Deque<CompletableFuture<Lease>> local = new ArrayDeque<>();
        for (int i = 0; i < 4 * TIMES; i++) {
            local.add(client.lock("local").acquireAsync());
        }
        local.element().get(20, TimeUnit.SECONDS);
        long before = requests(client);
        for (int i = 0; i < TIMES; i++) {
            local.remove().get(20, TimeUnit.SECONDS).close();
        }
        assertThat(requests(client) - before).isLessThanOrEqualTo(NOISE);
        LockClient waiter = open("waiter", server.port(), "");
        CompletableFuture<Lease> waiting = waiter.lock("local").acquireAsync();
        awaitWaiters("local", 1);
        requests(client); // it has looked
        while (!waiting.isDone() && !local.isEmpty()) {
            CompletableFuture<Lease> next = local.element();
            Awaitility.await().atMost(SOON).until(() -> next.isDone() || waiting.isDone());
            if (next.isDone()) {
                local.remove().get().close();
            }
        }
        assertThat(local).as("those that had to let the other client go first").isNotEmpty();
        waiting.get().close();
        while (!local.isEmpty()) {
            local.remove().get(20, TimeUnit.SECONDS).close();
        }
    }

    @Test
    void aPairTakesTwoRoundTrips() {
        try (TcpProxy proxy = TcpProxy.to(server)) {
            DistributedLock lock = open("far", proxy.port(), "").lock("far");
            lock.lock();
            lock.unlock();
            Duration eachWay = Duration.ofMillis(250); // long enough for a busy machine to count as none
            proxy.delay(eachWay);
            // One more round trip would be there in each try; a busy machine delays some, but not all.
            long best = Long.MAX_VALUE;
            for (int i = 0; i < 30 && best > eachWay.multipliedBy(6).toNanos(); i++) {
                long start = System.nanoTime();
                lock.lock();
                lock.unlock();
                best = Math.min(best, System.nanoTime() - start);
            }
            proxy.delay(Duration.ZERO);
            assertThat(Duration.ofNanos(best)).isBetween(eachWay.multipliedBy(4), eachWay.multipliedBy(6));
        }
    }

    /** Each of many locks costs what one does, but they are on their way together. */
    @Test
    void aHundredLocksAreTakenAndReleasedInTheTimeOfAFew() {
        List<String> names = IntStream.range(0, 100).mapToObj(i -> "many-" + i).toList();
        DistributedLock near = client.multiLock(names, LockOptions.defaults());
        near.lock();
        near.unlock();
        long before = requests(client);
        near.lock();
        near.unlock();
        // A create, a list and a delete of each, and one more list where it was held for long on a busy machine.
        assertThat(requests(client) - before).isBetween(200L, 400 + NOISE);
        try (TcpProxy proxy = TcpProxy.to(server)) {
            DistributedLock far = open("far", proxy.port(), "").multiLock(names, LockOptions.defaults());
            proxy.delay(Duration.ofMillis(250));
            long start = System.nanoTime();
            far.lock();
            far.unlock();
            // One after another, they would take a hundred seconds or more.
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(25));
            proxy.delay(Duration.ZERO);
        }
    }

    @Test
    void watchesDoNotPileUpBehindALongHold() throws Exception {
        client.lock("long").lock();
        for (int i = 0; i < TIMES / 2; i++) {
            CompletableFuture<Lease> waiting = rival.lock("long").acquireAsync();
            awaitWaiters("long", 1);
            waiting.cancel(true);
            awaitWaiters("long", 0);
        }
        requests(rival);
        assertThat(server.metric("zk_watch_count")).isLessThan(10);
        client.lock("long").unlock();
    }

    /** All are woken that wait for a plain lock, but however many threads of a client wait, it is one. */
    @Test
    void withoutAQueueTheHerdIsOneForEachClient() throws Exception {
        LockClient holder = open("holder", server.port(), "?queue=off");
        LockClient herd = open("herd", server.port(), "?queue=off");
        Lease held = holder.lock("plain").acquireAsync().get();
        List<CompletableFuture<Lease>> waiting = new ArrayList<>();
        for (int i = 0; i < TIMES; i++) {
            waiting.add(herd.lock("plain").acquireAsync());
        }
        long before = requests(herd);
        held.close();
        waiting.get(0).get(20, TimeUnit.SECONDS);
        // It makes the node and reads it.
        assertThat(requests(herd) - before).isBetween(2L, 2 + NOISE);
        for (CompletableFuture<Lease> next : waiting) {
            next.get(20, TimeUnit.SECONDS).close();
        }
    }

    @Test
    void aThousandHeldLocksCostTheHeartbeatsOfOneSession() throws Exception {
        List<CompletableFuture<Lease>> acquiring = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            acquiring.add(client.lock("held-" + i).acquireAsync());
        }
        List<Lease> held = new ArrayList<>();
        for (CompletableFuture<Lease> next : acquiring) {
            held.add(next.get(20, TimeUnit.SECONDS));
        }
        long before = requests(client);
        // More than a heartbeat, of which there are six in a timeout; ZooKeeper's client has some of its own.
        TimeUnit.SECONDS.sleep(11);
        assertThat(requests(client) - before).isBetween(1L, NOISE);
        assertThat(held).allMatch(Lease::isValid);
        for (Lease lease : held) {
            lease.closeAsync();
        }
    }
}
