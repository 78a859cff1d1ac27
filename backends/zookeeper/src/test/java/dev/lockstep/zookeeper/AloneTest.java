package dev.lockstep.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockMode;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.ZooKeeperServer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A client that had a lock to itself for so long that it no longer lists the queue: it must see others all the same.
 */
@Timeout(60)
class AloneTest {
    private static final int LONG = 20;

    @AutoClose
    private static ZooKeeperServer server;

    private LockClient client;
    private LockClient rival;

    @BeforeAll
    static void startServer() {
        Awaitility.setDefaultTimeout(Duration.ofSeconds(20)); // a busy machine takes long
        server = Servers.require(() -> ZooKeeperServer.builder()
                .systemProperty("znode.container.checkIntervalMs", "3600000")
                .start());
    }

    @BeforeEach
    void open() {
        client = connect("client");
        rival = connect("rival");
    }

    @AfterEach
    void close() {
        client.close();
        rival.close();
    }

    private LockClient connect(String name) {
        return LockClient.builder()
                .url("zookeeper://" + server.address())
                .namespace("alone")
                .clientName(name)
                .requestTimeout(Duration.ofSeconds(20))
                .connect();
    }

    private static long takeOften(DistributedLock lock) throws InterruptedException {
        long token = 0;
        for (int i = 0; i < LONG; i++) {
            try (Lease lease = lock.acquire()) {
                assertThat(lease.token()).isGreaterThan(token);
                token = lease.token();
            }
        }
        return token;
    }

    @Test
    void itFindsAHolderThatCameInBetween() throws Exception {
        takeOften(client.lock("taken"));
        try (Lease held = rival.lock("taken").acquire()) {
            assertThat(client.lock("taken").tryLock()).isFalse();
            assertThat(held.isValid()).isTrue();
        }
        assertThat(client.lock("taken").tryLock()).isTrue();
    }

    @Test
    void itWaitsForAHolderThatCameInBetween() throws Exception {
        DistributedLock lock = client.lock("waited-for");
        long token = takeOften(lock);
        Lease held = rival.lock("waited-for").acquire();
        assertThat(held.token()).isGreaterThan(token);
        CompletableFuture<Lease> waiting = lock.acquireAsync();
        Awaitility.await()
                .atMost(Duration.ofSeconds(20))
                .until(() -> rival.inspect("waited-for").waiters().size() == 1);
        assertThat(waiting).isNotDone();
        held.close();
        try (Lease next = waiting.get(20, TimeUnit.SECONDS)) {
            assertThat(next.token()).isGreaterThan(held.token());
        }
    }

    @Test
    void itFindsReadersThatCameInBetween() throws Exception {
        takeOften(client.lock("read"));
        try (Lease reading = rival.readWriteLock("read").readLock().acquire()) {
            assertThat(client.lock("read").tryLock()).isFalse();
            assertThat(reading.isValid()).isTrue();
        }
        assertThat(client.lock("read").tryLock()).isTrue();
    }

    @Test
    void onlyFewerTransactionsThanTheNumberShowThatItIsTheSameQueue() {
        LastHolds.Hold hold = new LastHolds.Hold("/x", 19, 1_000, 0);
        assertThat(hold.isRightBefore(20, 1_002)).isTrue();
        assertThat(hold.isRightBefore(20, 1_020)).isTrue();
        assertThat(hold.isRightBefore(20, 1_021)).isFalse();
        assertThat(hold.isRightBefore(20, 999)).as("a server that was set back").isFalse();
        assertThat(hold.isRightBefore(21, 1_002)).isFalse();
        assertThat(hold.isRightBefore(-1, 1_002)).isFalse();
    }

    /** The server removes an empty queue; the next counts from 0, and may have come just to the number that is expected. */
    @Test
    void itIsNotFooledByTheNumbersOfAnotherQueue() throws Exception {
        DistributedLock lock = client.lock("another");
        String queue = new Keys("alone").lockPath("another");
        try (RawClient other = new RawClient(server.address())) {
            takeOften(lock);
            other.delete(queue);
            other.create(queue, "", CreateMode.CONTAINER);
            String prefix = queue + "/" + QueueNode.prefix(ClaimKind.lock(LockMode.EXCLUSIVE, true), "another.1");
            String last = "";
            for (int number = 0; number < LONG; number++) { // with no more transactions than it takes
                last = other.create(prefix, "", CreateMode.EPHEMERAL_SEQUENTIAL);
            }
            assertThat(last).endsWith("%010d".formatted(LONG - 1));
            assertThat(lock.tryLock()).isFalse();
            for (String node : other.children(queue)) {
                other.delete(queue + "/" + node);
            }
            assertThat(lock.tryLock()).isTrue();
        }
    }
}
