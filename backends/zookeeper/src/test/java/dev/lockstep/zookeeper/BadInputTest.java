package dev.lockstep.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockInfo;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.servers.FreePorts;
import dev.lockstep.servers.ServerGroup;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.ZooKeeperServer;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import org.apache.zookeeper.CreateMode;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Settings that cannot work are rejected; other applications' nodes are not touched. */
@Timeout(60)
class BadInputTest {
    private static ZooKeeperServer server;
    private static RawClient operator;

    @BeforeAll
    static void startServer() throws Exception {
        server = Servers.require(() -> ZooKeeperServer.builder().start());
        operator = new RawClient(server.address());
    }

    @AfterAll
    static void stopServer() throws Exception {
        operator.close();
        server.close();
    }

    private static LockClient connect(String address) {
        return connect(address, Duration.ofSeconds(20));
    }

    private static LockClient connect(String address, Duration requestTimeout) {
        return LockClient.builder()
                .url("zookeeper://" + address)
                .namespace("bad-input")
                .requestTimeout(requestTimeout)
                .connect();
    }

    private static void isUnavailable(String address) {
        long start = System.nanoTime();
        assertThatThrownBy(() -> connect(address, Duration.ofSeconds(2)))
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining(address);
        // It does not hang. Besides the request timeout of two seconds, the machine may take some to look a name up.
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(20));
    }

    @Test
    void aServerThatIsNotThereIsReported() {
        isUnavailable("127.0.0.1:" + FreePorts.next());
        isUnavailable("no-such-host.invalid:2181");
    }

    @Test
    void aServerThatIsNotZooKeeperIsReported() throws Exception {
        try (ServerSocket mute = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            isUnavailable("127.0.0.1:" + mute.getLocalPort());
        }
    }

    @Test
    void aClientThatCannotBeStartedIsReported() {
        assertThatThrownBy(() -> connect(server.address() + "?zookeeper.clientCnxnSocket=no.such.Class"))
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining(server.address())
                .hasMessageContaining("no.such.Class");
    }

    @Test
    void aReadOnlyServerIsNotUsed() {
        try (ServerGroup<ZooKeeperServer> ensemble = Servers.require(() -> ZooKeeperServer.builder()
                .systemProperty("readonlymode.enabled", "true")
                .startEnsemble(3))) {
            ensemble.get(0).kill();
            ensemble.get(1).kill();
            isUnavailable(ensemble.get(2).address());
        }
    }

    @Test
    void foreignNodesInAQueueAreIgnored() throws Exception {
        String path = new Keys("bad-input").lockPath("foreign");
        operator.create(path + "/lock-0000000000", "somebody", CreateMode.PERSISTENT);
        operator.create(path + "/w:notanumber:x", "somebody", CreateMode.PERSISTENT);
        operator.create(new Keys("bad-input").namespacePath() + "/a b%", "somebody", CreateMode.PERSISTENT);
        try (LockClient client = connect(server.address());
                Lease lease = client.lock("foreign").acquire()) {
            assertThat(lease.isValid()).isTrue();
            assertThat(client.inspect("foreign").holders()).hasSize(1);
            assertThat(client.inspect("foreign").waiters()).isEmpty();
            assertThat(client.list("")).extracting(LockInfo::name).containsExactly("foreign");
        }
        assertThat(operator.children(path)).containsExactlyInAnyOrder("lock-0000000000", "w:notanumber:x");
    }

    @Test
    void aPlaceWhoseDataIsNotOursStillCounts() throws Exception {
        String path = new Keys("bad-input").lockPath("strange");
        String node = operator.create(
                path + "/w:somebody.1:", "\u0000\n=\nmode=?\npid=x\nsince=y", CreateMode.EPHEMERAL_SEQUENTIAL);
        try (LockClient client = connect(server.address())) {
            assertThat(client.lock("strange").tryLock()).isFalse();
            assertThat(client.inspect("strange").holders())
                    .singleElement()
                    .satisfies(entry -> assertThat(entry.holder().client()).isEqualTo("unknown"));
            assertThat(client.forceRelease("strange")).isTrue();
            assertThat(operator.stat(node)).isNull();
            assertThat(client.lock("strange").tryLock()).isTrue();
            client.lock("strange").unlock();
        }
    }

    @Test
    void aLockWithAQueueAndOneWithoutExcludeEachOther() throws Exception {
        try (LockClient queued = connect(server.address());
                LockClient plain = connect(server.address() + "?queue=off")) {
            queued.lock("mixed").lock();
            assertThatThrownBy(() -> plain.lock("mixed").tryLock())
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining("mixed")
                    .hasMessageContaining("queue");
            queued.lock("mixed").unlock();
            plain.lock("mixed").lock();
            assertThatThrownBy(() -> queued.lock("mixed").lock())
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining("queue=off");
            assertThat(queued.inspect("mixed").holders()).hasSize(1);
            plain.lock("mixed").unlock();
            queued.lock("mixed").lock();
            queued.lock("mixed").unlock();
        }
    }

    @Test
    void withoutAQueueThereIsNoReadWriteLock() {
        try (LockClient plain = connect(server.address() + "?queue=off")) {
            assertThatThrownBy(() -> plain.readWriteLock("shared").readLock().lock())
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining("shared");
        }
    }

    @Test
    void aTtlThatTheServerDoesNotAllowIsRefused() {
        assertThatThrownBy(() -> LockClient.builder()
                        .url("zookeeper://" + server.address())
                        .ttl(Duration.ofMillis(150))
                        .connect())
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining("ttl");
    }
}
