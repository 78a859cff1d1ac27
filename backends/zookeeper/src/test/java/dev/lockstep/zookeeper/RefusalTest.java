package dev.lockstep.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.ZooKeeperServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Clients that were admitted once, and are refused when their session has ended. */
@Tag("full")
@Timeout(120)
class RefusalTest {
    private static final Duration SOON = Duration.ofSeconds(50);
    private static final Duration TTL = Duration.ofSeconds(6);

    @AutoClose
    private static ZooKeeperServer server;

    private Logins logins;
    private final Deque<ZooKeeperBackend> backends = new ArrayDeque<>();
    private LockClient client;

    @BeforeAll
    static void startServer() {
        server = Servers.require(
                () -> ZooKeeperServer.builder().saslUser("orders", "s3cret").start());
    }

    @BeforeEach
    void connect(@TempDir Path folder) throws Exception {
        logins = new Logins(folder).set("Context", "s3cret");
        client = LockClient.builder()
                .ttl(TTL)
                .requestTimeout(Duration.ofSeconds(10))
                .retryBackoff(Duration.ofMillis(5), Duration.ofMillis(20))
                .backend(context -> {
                    backends.push((ZooKeeperBackend)
                            ZooKeeperEngine.at(server.address()).sasl("Context").open(context));
                    return backends.element();
                })
                .connect();
    }

    @AfterEach
    void close() {
        client.close();
        logins.close();
    }

    private Session session() {
        return backends.element().session();
    }

    private void endSession() throws InterruptedException {
        Session old = session();
        old.end();
        old.handle().close();
    }

    private void isLetInAgain() {
        Awaitility.await()
                .atMost(SOON)
                .ignoreExceptions()
                .until(() -> client.lock("x").acquireAsync().get(), lease -> {
                    lease.close();
                    return true;
                });
    }

    /** As when Kerberos' KDC is down: ZooKeeper's client reports it by an event of a refusal, and no server was asked. */
    @Test
    void aLoginThatFailsHereIsAnOutageAndNotAWrongSetup() throws Exception {
        Lease lease = client.lock("x").acquireAsync().get();
        logins.clear();
        endSession();
        assertThat(lease.isValid()).isFalse();
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(() -> client.lock("x").acquireAsync().get(50, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(LockUnavailableException.class)
                    .hasMessageContaining("'x'")
                    .hasMessageContaining("login");
            assertThatThrownBy(() -> client.inspect("x")).isInstanceOf(LockUnavailableException.class);
            Session failed = session();
            Awaitility.await().atMost(SOON).until(() -> session() != failed);
        }
        logins.set("Context", "s3cret");
        isLetInAgain();
    }

    private void isToldOfARefusal() {
        assertThatThrownBy(() -> client.lock("x").acquireAsync().get(20, TimeUnit.SECONDS))
                .hasCauseInstanceOf(LockConfigurationException.class)
                .hasMessageContaining("'x'")
                .hasMessageContaining("authentication");
        assertThatThrownBy(() -> client.inspect("x"))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining("authentication");
    }

    /** As by a JVM that must not use the way in which the servers know passwords. */
    @Test
    void aClientThatCannotBeginToAuthenticateGetsAnError() throws Exception {
        System.setProperty("zookeeper.fips-mode", "true");
        endSession();
        isToldOfARefusal();
        System.setProperty("zookeeper.fips-mode", "false");
        isLetInAgain();
    }

    @Test
    void aRefusalIsForgottenOnceNoSessionCanBeginAgain() throws Exception {
        logins.set("Context", "wr0ng");
        endSession();
        isToldOfARefusal();
        System.setProperty("zookeeper.clientCnxnSocket", "no.such.Class");
        try {
            Awaitility.await().atMost(SOON).untilAsserted(() -> {
                assertThatThrownBy(() -> client.lock("x").acquireAsync().get(50, TimeUnit.SECONDS))
                        .hasCauseInstanceOf(LockUnavailableException.class);
                assertThatThrownBy(() -> client.inspect("x")).isInstanceOf(LockUnavailableException.class);
            });
        } finally {
            System.clearProperty("zookeeper.clientCnxnSocket");
        }
        logins.set("Context", "s3cret");
        isLetInAgain();
    }

    /** Each try leaves a session on the server for the ttl, since it is made before the client is refused. */
    @Test
    void aClientThatIsRefusedTriesAgainLessAndLessOften() throws Exception {
        logins.set("Context", "wr0ng");
        long before = System.nanoTime();
        int last = session().number();
        endSession();
        for (int tries = 1; tries <= 3; tries++) {
            int next = last + tries;
            Awaitility.await().atMost(SOON).until(() -> session().number() >= next);
            isToldOfARefusal();
        }
        assertThat(Duration.ofNanos(System.nanoTime() - before))
                .isGreaterThan(TTL.dividedBy(6).plus(TTL.dividedBy(4)));
        logins.set("Context", "s3cret");
        isLetInAgain();
    }
}
