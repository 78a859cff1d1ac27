package dev.lockstep.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.ZooKeeperServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Clients of two stored formats refuse each other. */
@Timeout(60)
class FormatTest {
    private static final String OTHER = "format=3\n";
    private static ZooKeeperServer server;
    private static RawClient operator;
    private String namespace;
    private String path;

    @BeforeAll
    static void startServer() throws Exception {
        Awaitility.setDefaultTimeout(Duration.ofSeconds(20)); // a busy machine takes long
        server = Servers.require(() -> ZooKeeperServer.builder().start());
        operator = new RawClient(server.address());
    }

    @AfterAll
    static void stopServer() throws Exception {
        operator.close();
        server.close();
    }

    @BeforeEach
    void chooseNamespace() {
        namespace = "formats-" + System.nanoTime();
        path = new Keys(namespace).namespacePath();
    }

    private LockClient connect(String options) {
        return LockClient.builder()
                .url("zookeeper://" + server.address() + options)
                .namespace(namespace)
                .requestTimeout(Duration.ofSeconds(20))
                .connect();
    }

    private String stored() throws Exception {
        return new String(operator.handle().getData(path, false, null), StandardCharsets.UTF_8);
    }

    private void makeNamespace(String data) throws Exception {
        operator.create(path, data, CreateMode.CONTAINER);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "?queue=off"})
    void theNamespaceSaysItsFormat(String options) throws Exception {
        try (LockClient client = connect(options);
                Lease lease = client.lock("x").acquire()) {
            assertThat(stored()).isEqualTo("format=" + Format.NUMBER + "\n");
            assertThat(lease.isValid()).isTrue();
        }
    }

    @Test
    void aClientRefusesTheNamespaceOfAnotherFormat() throws Exception {
        makeNamespace(OTHER);
        operator.create(path + "/x", "", CreateMode.CONTAINER);
        assertThatThrownBy(() -> connect(""))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining(namespace)
                .hasMessageContaining("format");
        assertThat(stored()).isEqualTo(OTHER);
    }

    @Test
    void anEmptyNamespaceOfAnotherFormatIsTakenOver() throws Exception {
        makeNamespace(OTHER);
        try (LockClient client = connect("")) {
            client.lock("x").acquire().close();
            assertThat(stored()).isEqualTo("format=" + Format.NUMBER + "\n");
        }
    }

    @Test
    void aNamespaceThatWasMadeByHandGetsTheFormat() throws Exception {
        operator.create(path, "", CreateMode.PERSISTENT);
        try (LockClient client = connect("")) {
            client.lock("x").acquire().close();
            assertThat(stored()).isEqualTo("format=" + Format.NUMBER + "\n");
        }
    }

    /** Both were connected before there was a namespace, so that neither was refused then. */
    @ParameterizedTest
    @ValueSource(strings = {"", "?queue=off"})
    void aConnectedClientIsRefusedWhenTheFormatChanges(String options) throws Exception {
        try (LockClient client = connect(options)) {
            makeNamespace(OTHER);
            assertThatThrownBy(() -> client.lock("x").acquire())
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining("format 3");
            Awaitility.await()
                    .atMost(Duration.ofSeconds(20))
                    .untilAsserted(() ->
                            assertThat(operator.children(path + "/x").size()).isZero());
            assertThatThrownBy(() -> client.lock("y").tryLock()).isInstanceOf(LockConfigurationException.class);
            operator.handle().setData(path, Format.data(), -1);
            Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> {
                try {
                    client.lock("z").acquire().close();
                    return true;
                } catch (LockConfigurationException e) {
                    return false; // it has not heard of that yet
                }
            });
        }
    }

    @Test
    void aWaiterIsNotGrantedALockOfAnotherFormat() throws Exception {
        try (LockClient holder = connect("");
                LockClient waiter = connect("")) {
            Lease held = holder.lock("x").acquire();
            CompletableFuture<Lease> waiting = waiter.lock("x").acquireAsync();
            Awaitility.await()
                    .atMost(Duration.ofSeconds(20))
                    .until(() -> holder.inspect("x").waiters().size() == 1);
            operator.handle().setData(path, OTHER.getBytes(StandardCharsets.UTF_8), -1);
            held.close();
            assertThatThrownBy(() -> waiting.get(20, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(LockConfigurationException.class);
            assertThat(operator.children(path + "/x")).isEmpty();
        }
    }
}
