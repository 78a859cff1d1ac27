package dev.lockstep.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.TcpProxy;
import dev.lockstep.servers.ZooKeeperServer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What locks cost the server, counted there. */
@Timeout(60)
class CostTest {
    private static final int TIMES = 50;

    /** A heartbeat of each of two clients, and the questions of the test itself. */
    private static final long NOISE = 10;

    private static ZooKeeperServer server;
    private LockClient client;
    private LockClient rival;

    @BeforeAll
    static void startServer() {
        server = Servers.require(() -> ZooKeeperServer.builder().start());
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @BeforeEach
    void openClients() {
        client = open("client", server.port());
        rival = open("rival", server.port());
    }

    @AfterEach
    void closeClients() {
        client.close();
        rival.close();
    }

    private static LockClient open(String name, int port) {
        return LockClient.builder()
                .url("zookeeper://127.0.0.1:" + port)
                .clientName(name)
                .ttl(Duration.ofSeconds(60))
                .connect();
    }

    /** How many requests came, once no more come. */
    private static long requests() {
        long[] last = {-1};
        Awaitility.await().pollInterval(Duration.ofMillis(20)).until(() -> {
            long now = server.metric("zk_packets_received");
            boolean quiet = now - last[0] <= 1; // the question itself may count
            last[0] = now;
            return quiet;
        });
        return last[0];
    }

    @Test
    void anUncontendedPairCostsThreeRequestsAndReentryNone() {
        DistributedLock lock = client.lock("pair");
        lock.lock();
        lock.unlock();
        long before = requests();
        for (int i = 0; i < TIMES; i++) {
            lock.lock();
            lock.lock();
            lock.unlock();
            lock.unlock();
        }
        assertThat(requests() - before).isBetween(3L * TIMES, 3L * TIMES + NOISE);
    }

    @Test
    void aHandOffCostsADeleteAndAList() throws Exception {
        long cost = 0;
        for (int i = 0; i < TIMES; i++) {
            Lease held = client.lock("hand-off").acquire();
            CompletableFuture<Lease> waiting = rival.lock("hand-off").acquireAsync();
            Awaitility.await()
                    .pollInterval(Duration.ofMillis(5))
                    .until(() -> client.inspect("hand-off").waiters().size() == 1);
            long before = requests();
            held.close();
            Lease next = waiting.get(20, TimeUnit.SECONDS);
            cost += requests() - before;
            next.close();
        }
        // The questions of requests() are at least two a round.
        assertThat(cost).isLessThanOrEqualTo(2L * TIMES + 3L * TIMES + NOISE);
    }

    @Test
    void aTryThatFailsLeavesNothing() {
        client.lock("busy").lock();
        requests();
        long nodes = server.metric("zk_znode_count");
        long ephemerals = server.metric("zk_ephemerals_count");
        long before = requests();
        for (int i = 0; i < TIMES; i++) {
            assertThat(rival.lock("busy").tryLock()).isFalse();
        }
        long cost = requests() - before;
        assertThat(server.metric("zk_znode_count")).isEqualTo(nodes);
        assertThat(server.metric("zk_ephemerals_count")).isEqualTo(ephemerals);
        // Three of the rival; the holder looks whether it is wanted when the node comes and when it goes.
        assertThat(cost).isLessThanOrEqualTo(5L * TIMES + NOISE);
        client.lock("busy").unlock();
    }

    @Test
    void whoHoldsOrWaitsAsksNothing() throws Exception {
        client.lock("quiet").lock();
        CompletableFuture<Lease> waiting = rival.lock("quiet").acquireAsync();
        Awaitility.await().until(() -> client.inspect("quiet").waiters().size() == 1);
        long before = requests();
        Awaitility.await().pollDelay(Duration.ofSeconds(2)).until(() -> true);
        assertThat(requests() - before).isLessThanOrEqualTo(NOISE);
        client.lock("quiet").unlock();
        waiting.get(20, TimeUnit.SECONDS).close();
    }

    @Test
    void aPairTakesTwoRoundTrips() {
        try (TcpProxy proxy = TcpProxy.to(server);
                LockClient far = open("far", proxy.port())) {
            DistributedLock lock = far.lock("far");
            lock.lock();
            lock.unlock();
            Duration eachWay = Duration.ofMillis(15);
            proxy.delay(eachWay);
            long best = Long.MAX_VALUE;
            for (int i = 0; i < 10; i++) {
                long start = System.nanoTime();
                lock.lock();
                lock.unlock();
                best = Math.min(best, System.nanoTime() - start);
            }
            proxy.delay(Duration.ZERO);
            assertThat(Duration.ofNanos(best)).isBetween(eachWay.multipliedBy(4), eachWay.multipliedBy(6));
        }
    }

    @Test
    void watchesDoNotPileUpBehindALongHold() throws Exception {
        client.lock("long").lock();
        for (int i = 0; i < TIMES / 2; i++) {
            assertThat(rival.lock("long").tryLock(100, TimeUnit.MILLISECONDS)).isFalse();
        }
        requests();
        assertThat(server.metric("zk_watch_count")).isLessThan(10);
        client.lock("long").unlock();
    }
}
