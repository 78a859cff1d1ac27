package dev.lockstep.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.servers.ServerGroup;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.TcpProxy;
import dev.lockstep.servers.TestCertificates;
import dev.lockstep.servers.ZooKeeperServer;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Chroots, credentials and encryption, on one server that has them all. */
@Tag("full")
@Timeout(120)
class SetupTest {
    @AutoClose
    private static ZooKeeperServer server;

    private String namespace = "";

    @BeforeEach
    void nameNamespace(TestInfo test) {
        namespace = test.getTestMethod().orElseThrow().getName()
                + test.getDisplayName().hashCode();
    }

    @BeforeAll
    static void startServer() {
        server = Servers.require(() -> ZooKeeperServer.builder()
                .tls(TestCertificates.get())
                .saslUser("orders", "s3cret")
                .start());
    }

    /** Each test has a namespace of its own, since a namespace belongs to the user that used it first. */
    private LockClient connect(String url) {
        return connect(url, Duration.ofSeconds(50)); // the first encrypted connection of two busy JVMs takes its time
    }

    private LockClient connect(String url, Duration requestTimeout) {
        return LockClient.builder()
                .url(url)
                .namespace(namespace)
                .requestTimeout(requestTimeout)
                .connect();
    }

    private void works(LockClient client, String name) throws InterruptedException {
        try (client;
                Lease lease = client.lock(name).acquire()) {
            assertThat(lease.isValid()).isTrue();
            assertThat(client.inspect(name).holders()).hasSize(1);
        }
    }

    @Test
    void locksLiveBelowTheChroot() throws Exception {
        try (RawClient operator = new RawClient(server.address())) {
            operator.create("/apps/one", "", CreateMode.PERSISTENT);
            operator.create("/apps/two", "", CreateMode.PERSISTENT);
            try (LockClient one = connect("zookeeper://" + server.address() + "/apps/one");
                    LockClient two = connect("zookeeper://" + server.address() + "/apps/two");
                    Lease first = one.lock("x").acquire();
                    Lease second = two.lock("x").acquire()) {
                assertThat(first.isValid() && second.isValid()).isTrue();
                assertThat(operator.children("/apps/one" + new Keys(namespace).lockPath("x")))
                        .hasSize(1);
                assertThat(operator.children("/apps/two" + new Keys(namespace).lockPath("x")))
                        .hasSize(1);
            }
        }
    }

    @Test
    void aChrootThatIsMissingIsNamed() {
        assertThatThrownBy(() -> connect("zookeeper://" + server.address() + "/no/such"))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining("/no/such");
    }

    @Test
    void onlyTheUserMayTouchItsLocks() throws Exception {
        String url = "zookeeper://orders:s3cret@" + server.address();
        try (LockClient client = connect(url);
                RawClient stranger = new RawClient(server.address());
                Lease lease = client.lock("digest").acquire()) {
            assertThat(lease.isValid()).isTrue();
            String path = new Keys(namespace).lockPath("digest");
            assertThatThrownBy(() -> stranger.handle().getChildren(path, false))
                    .isInstanceOf(KeeperException.NoAuthException.class);
            stranger.handle().addAuthInfo("digest", "orders:s3cret".getBytes());
            String node = path + "/" + stranger.children(path).get(0);
            assertThat(stranger.handle().getACL(node, null))
                    .extracting(acl -> acl.getId().getScheme(), ACL::getPerms)
                    .containsExactly(tuple("digest", ZooDefs.Perms.ALL));
        }
    }

    @Test
    void aWrongPasswordIsReportedAndNotRepeated() throws Exception {
        works(connect("zookeeper://orders:s3cret@" + server.address()), "guarded");
        try (LockClient wrong = connect("zookeeper://orders:wr0ng@" + server.address())) {
            assertThatThrownBy(() -> wrong.lock("guarded").lock())
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining("guarded")
                    .hasMessageContaining("credentials")
                    .hasMessageNotContaining("wr0ng");
            assertThatThrownBy(() -> wrong.lock("guarded").tryLock()).isInstanceOf(LockConfigurationException.class);
            assertThatThrownBy(() -> wrong.inspect("guarded"))
                    .isInstanceOfSatisfying(
                            LockConfigurationException.class,
                            refused -> assertThat(refused.lockName()).isEqualTo("guarded"));
            assertThat(wrong.toString()).doesNotContain("wr0ng");
        }
        assertThat(Url.parse("zookeeper://orders:wr0ng@localhost").toString()).doesNotContain("wr0ng");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void saslUsersAreAdmittedAndOthersRefused(boolean encrypted, @TempDir Path folder) throws Exception {
        String url = encrypted ? secureUrl(TestCertificates.get()) + "&" : "zookeeper://" + server.address() + "?";
        try (Logins logins = new Logins(folder)) {
            logins.set("Context", "s3cret");
            try (LockClient client = connect(url + "sasl=Context");
                    RawClient stranger = new RawClient(server.address());
                    Lease lease = client.lock("sasl").acquire()) {
                assertThat(lease.isValid()).isTrue();
                assertThatThrownBy(() -> stranger.handle().getChildren(new Keys(namespace).lockPath("sasl"), false))
                        .isInstanceOf(KeeperException.NoAuthException.class);
            }
            logins.set("Context", "wr0ng");
            for (String context : new String[] {"Context", "NoSuchContext"}) {
                assertThatThrownBy(() -> connect(url + "sasl=" + context))
                        .as(context)
                        .isInstanceOf(LockConfigurationException.class)
                        .hasMessageContaining("authentication");
            }
        }
    }

    /** As with a login configuration for Kafka: ZooKeeper's client takes it for its own, and fails. */
    @Test
    void aLoginConfigurationForSomethingElseIsLeftAlone(@TempDir Path folder) throws Exception {
        try (Logins other = new Logins(folder)) {
            works(connect("zookeeper://" + server.address()), "alone");
            other.set("Client", "wr0ng");
            works(connect("zookeeper://" + server.address()), "alone");
        }
    }

    @Test
    @Timeout(300) // a server that starts three times
    void claimsOfAUserThatIsNoLongerAdmittedEnd(@TempDir Path folder) throws Exception {
        try (Logins logins = new Logins(folder).set("Right", "s3cret");
                ZooKeeperServer changing = Servers.require(() ->
                        ZooKeeperServer.builder().saslUser("orders", "s3cret").start());
                LockClient client = connect("zookeeper://" + changing.address() + "?sasl=Right")) {
            Path users = changing.directory().resolve("jaas.conf");
            String known = Files.readString(users);
            Files.writeString(users, known.replace("s3cret", "changed"));
            changing.restart();
            assertThatThrownBy(() -> client.lock("sasl").acquireAsync().get(50, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining("'sasl'")
                    .hasMessageContaining("authentication");
            assertThatThrownBy(() -> client.inspect("sasl"))
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining("authentication");
            Files.writeString(users, known);
            changing.restart();
            Awaitility.await()
                    .atMost(Duration.ofSeconds(90)) // the ttl is half a minute, and a try comes in half of that
                    .ignoreException(LockConfigurationException.class)
                    .until(() -> client.lock("sasl").tryLock());
        }
    }

    @Test
    void aServerThatWantsSaslSaysSo() {
        try (ZooKeeperServer strict = Servers.require(() -> ZooKeeperServer.builder()
                .saslUser("orders", "s3cret")
                .setting("sessionRequireClientSASLAuth", "true")
                .start())) {
            assertThatThrownBy(() -> connect("zookeeper://" + strict.address()))
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining("sasl=");
        }
    }

    /** Local sessions can have no ephemeral nodes. */
    @Test
    void serversWithLocalSessionsSayWhatToSet() throws Exception {
        try (ServerGroup<ZooKeeperServer> local = localSessions(false);
                LockClient client = connect("zookeeper://" + local.addresses())) {
            assertThatThrownBy(() -> client.lock("local").lock())
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining("'local'")
                    .hasMessageContaining("localSessionsUpgradingEnabled=true");
        }
        try (ServerGroup<ZooKeeperServer> upgrading = localSessions(true)) {
            works(connect("zookeeper://" + upgrading.addresses()), "local");
        }
    }

    private static ServerGroup<ZooKeeperServer> localSessions(boolean upgrading) {
        return Servers.require(() -> ZooKeeperServer.builder()
                .setting("standaloneEnabled", "false")
                .setting("localSessionsEnabled", "true")
                .setting("localSessionsUpgradingEnabled", Boolean.toString(upgrading))
                .startEnsemble(1));
    }

    @Test
    void connectionsCanBeEncrypted() throws Exception {
        try (LockClient client = connect(secureUrl(TestCertificates.get()))) {
            assertThat(client.describe().version()).startsWith("3.");
        }
        works(connect(secureUrl(TestCertificates.get())), "tls");
    }

    @Test
    void aBuilderSaysTheSameAsAUrl() throws Exception {
        String password = "s3cret";
        works(
                LockClient.builder()
                        .namespace(namespace)
                        .requestTimeout(Duration.ofSeconds(50))
                        .backend(ZooKeeperEngine.at("localhost:" + server.securePort())
                                .digest("orders", password)
                                .tls()
                                .setting(
                                        "zookeeper.ssl.trustStore.location",
                                        TestCertificates.get().trustStore().toString())
                                .setting("zookeeper.ssl.trustStore.password", TestCertificates.PASSWORD))
                        .connect(),
                "built");
    }

    @Test
    void aServerThatIsNotTrustedIsNotUsed() {
        assertThatThrownBy(() -> connect(secureUrl(TestCertificates.get("other")), Duration.ofSeconds(5)))
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("TLS")
                .hasMessageNotContaining(TestCertificates.PASSWORD);
    }

    /** ZooKeeper's client then waits until its connection is closed, which a silent server delays. */
    @Test
    @Tag("full")
    void leavingASilentServerOverTlsDoesNotBlockTheTimer() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(server.securePort());
                LockClient client = LockClient.builder()
                        .url(secureUrl(TestCertificates.get()).replace(":" + server.securePort(), ":" + proxy.port()))
                        .clientName("leaving")
                        .namespace(namespace)
                        .ttl(Duration.ofSeconds(6))
                        .requestTimeout(Duration.ofSeconds(20))
                        .connect()) {
            client.lock("x").lock();
            long connections = proxy.acceptedConnections();
            proxy.blackHole();
            Awaitility.await("it has left for another connection")
                    .atMost(Duration.ofSeconds(20))
                    .pollDelay(Duration.ZERO)
                    .pollInterval(Duration.ofMillis(5))
                    .until(() -> {
                        assertThat(callsOfTimer()).doesNotContain("updateServerList", "awaitUninterruptibly");
                        return proxy.acceptedConnections() > connections;
                    });
            proxy.heal();
        }
    }

    /** The methods in which the client's timer is now. */
    private static List<String> callsOfTimer() {
        List<String> calls = new ArrayList<>();
        Thread.getAllStackTraces().forEach((thread, stack) -> {
            if (thread.getName().equals("lockstep-timer-leaving")) {
                for (StackTraceElement call : stack) {
                    calls.add(call.getMethodName());
                }
            }
        });
        return calls;
    }

    private static String secureUrl(TestCertificates trusted) {
        return "zookeeper://localhost:" + server.securePort() + "?tls=on&zookeeper.ssl.trustStore.location="
                + trusted.trustStore() + "&zookeeper.ssl.trustStore.password=" + TestCertificates.PASSWORD;
    }

    @Test
    void noLogHasCredentials() throws Exception {
        String url = secureUrl(TestCertificates.get()).replace("zookeeper://", "zookeeper://orders:s3cret@");
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Dorg.slf4j.simpleLogger.defaultLogLevel=trace",
                        "-Dorg.slf4j.simpleLogger.log.org.apache.zookeeper=trace",
                        "-cp",
                        System.getProperty("java.class.path"),
                        LoggingMain.class.getName())
                .redirectErrorStream(true)
                .start();
        try (Writer input = process.outputWriter()) {
            input.write(url + "\n" + namespace + "\n");
        }
        String log = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(log).isZero();
        assertThat(log)
                .contains("org.apache.zookeeper.ClientCnxn", "Session establishment complete")
                .doesNotContain("s3cret")
                .doesNotContain(TestCertificates.PASSWORD);
    }

    /** Uses a lock, as the URL and namespace on standard input say. */
    static final class LoggingMain {
        private LoggingMain() {}

        public static void main(String[] args) throws Exception {
            BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            String url = input.readLine();
            try (LockClient client = LockClient.builder()
                    .url(url)
                    .namespace(input.readLine())
                    .requestTimeout(Duration.ofSeconds(50))
                    .connect()) {
                client.lock("logged").lock();
                client.lock("logged").unlock();
            }
        }
    }

    @Test
    void thePlainLockWorksWithCredentialsToo() throws Exception {
        works(connect("zookeeper://orders:s3cret@" + server.address() + "?queue=off"), "plain");
    }
}
