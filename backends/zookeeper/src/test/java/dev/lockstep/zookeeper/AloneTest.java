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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A client that had a lock to itself for so long that it lists its queue no more: it must see others all the same. */
@Timeout(60)
class AloneTest {
    private static final int LONG = 20;

    private ZooKeeperServer server;
    private LockClient client;
    private LockClient rival;

    @BeforeEach
    void open() {
        server = Servers.require(() -> ZooKeeperServer.builder()
                .systemProperty("znode.container.checkIntervalMs", "3600000")
                .start());
        client = connect("client");
        rival = connect("rival");
    }

    @AfterEach
    void close() {
        client.close();
        rival.close();
        server.close();
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
    void itFindsWhoTookTheLockInBetween() throws Exception {
        DistributedLock lock = client.lock("x");
        long token = takeOften(lock);
        Lease held = rival.lock("x").acquire();
        assertThat(held.token()).isGreaterThan(token);
        assertThat(lock.tryLock()).isFalse();
        CompletableFuture<Lease> waiting = lock.acquireAsync();
        assertThat(waiting).isNotDone();
        held.close();
        try (Lease next = waiting.get(20, TimeUnit.SECONDS)) {
            assertThat(next.token()).isGreaterThan(held.token());
        }
    }

    @Test
    void itFindsReadersThatCameInBetween() throws Exception {
        takeOften(client.lock("x"));
        try (Lease reading = rival.readWriteLock("x").readLock().acquire()) {
            assertThat(client.lock("x").tryLock()).isFalse();
            assertThat(reading.isValid()).isTrue();
        }
        assertThat(client.lock("x").tryLock()).isTrue();
    }

    /** The server removes an empty queue; the next counts from 0, and may have come just to the number that is expected. */
    @Test
    void itIsNotFooledByTheNumbersOfAnotherQueue() throws Exception {
        DistributedLock lock = client.lock("x");
        takeOften(lock);
        String queue = new Names("alone").lockPath("x");
        try (RawClient other = new RawClient(server.address())) {
            other.delete(queue);
            other.create(queue, "", CreateMode.CONTAINER);
            String prefix = queue + "/" + QueueNode.prefix(LockMode.EXCLUSIVE, true, "another.1");
            for (int number = 0; number < LONG - 1; number++) {
                other.delete(other.create(prefix, "", CreateMode.EPHEMERAL_SEQUENTIAL));
            }
            String held = other.create(prefix, "", CreateMode.EPHEMERAL_SEQUENTIAL);
            assertThat(held).endsWith("%010d".formatted(LONG - 1));
            assertThat(lock.tryLock()).isFalse();
            other.delete(held);
            assertThat(lock.tryLock()).isTrue();
        }
    }
}
