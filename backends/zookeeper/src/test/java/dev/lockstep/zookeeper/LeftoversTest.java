package dev.lockstep.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.servers.Logged;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.ZooKeeperServer;
import dev.lockstep.spi.Claim;
import java.lang.reflect.Field;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Claims and holds that are over leave nothing in memory, and no noise. */
@Timeout(60)
@Tag("full")
class LeftoversTest {
    @AutoClose
    private static ZooKeeperServer server;

    private final Deque<ZooKeeperBackend> backends = new ArrayDeque<>();

    @BeforeAll
    static void startServer() {
        server = Servers.require(() -> ZooKeeperServer.builder().start());
    }

    private LockClient connect(String user, String options) {
        return LockClient.builder()
                .namespace("leftovers-" + System.nanoTime())
                .requestTimeout(Duration.ofSeconds(10))
                .backend(context -> {
                    backends.push((ZooKeeperBackend) Url.parse("zookeeper://" + user + server.address() + options)
                            .open(context));
                    return backends.element();
                })
                .connect();
    }

    private ZooKeeperBackend backend() {
        return backends.element();
    }

    private Map<?, ?> listeners() throws ReflectiveOperationException {
        Field field = Watches.class.getDeclaredField("listeners");
        field.setAccessible(true);
        return (Map<?, ?>) field.get(backend().session().watches());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "?queue=off"})
    void aClaimThatIsWithdrawnAtAnyTimeStopsListening(String options) throws Exception {
        try (LockClient client = connect("", options)) {
            List<CompletableFuture<Void>> gone = new ArrayList<>();
            for (int i = 0; i < 3_000; i++) {
                String name = "x" + i / 3;
                Claim claim = backend().submit(new TestClaim(name, "abcdefghijklmnopqrstuv." + i));
                LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(1_000_000));
                gone.add(claim.withdraw(Duration.ZERO).toCompletableFuture());
            }
            for (CompletableFuture<Void> each : gone) {
                each.get(20, TimeUnit.SECONDS);
            }
            Awaitility.await()
                    .atMost(Duration.ofSeconds(5))
                    .untilAsserted(() -> assertThat(listeners()).isEmpty());
        }
    }

    @Test
    void aNodeThatMayNotBeDeletedIsTriedAgainWithoutHaste() throws Exception {
        try (Logged log = new Logged();
                LockClient client = connect("orders:s3cret@", "");
                RawClient operator = new RawClient(server.address())) {
            operator.handle().addAuthInfo("digest", "orders:s3cret".getBytes());
            Lease lease = client.lock("x").acquireAsync().get();
            String path = backend().keys().lockPath("x");
            operator.handle().setACL(path, ZooDefs.Ids.READ_ACL_UNSAFE, -1);
            CompletableFuture<Void> closing = lease.closeAsync();
            long before = server.metric("zk_packets_received");
            TimeUnit.SECONDS.sleep(3); // in which the server is not asked again and again
            assertThat(server.metric("zk_packets_received") - before).isLessThan(40);
            assertThat(closing).isNotDone();
            assertThat(log.text().lines().filter(line -> line.contains("trying again periodically")))
                    .as("it is said once")
                    .hasSize(1);
        }
    }

    @Test
    void aNodeThatMayBeDeletedAgainIs() throws Exception {
        try (LockClient client = connect("orders:s3cret@", "?acl=open");
                RawClient operator = new RawClient(server.address())) {
            Lease lease = client.lock("x").acquireAsync().get();
            String path = backend().keys().lockPath("x");
            ACL noDelete = new ACL(ZooDefs.Perms.READ | ZooDefs.Perms.ADMIN, ZooDefs.Ids.ANYONE_ID_UNSAFE);
            operator.handle().setACL(path, Collections.singletonList(noDelete), -1);
            CompletableFuture<Void> closing = lease.closeAsync();
            TimeUnit.MILLISECONDS.sleep(500);
            assertThat(closing).isNotDone();
            operator.handle().setACL(path, ZooDefs.Ids.OPEN_ACL_UNSAFE, -1);
            closing.get(20, TimeUnit.SECONDS);
            assertThat(operator.children(path)).isEmpty();
        }
    }
}
