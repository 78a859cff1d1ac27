package dev.lockstep.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.security.auth.login.AppConfigurationEntry;
import javax.security.auth.login.AppConfigurationEntry.LoginModuleControlFlag;
import javax.security.auth.login.Configuration;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.server.auth.DigestLoginModule;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class ZooKeeperServerTest {
    @Test
    void standaloneServerKeepsItsDataOverARestartAndACrash() throws Exception {
        try (ZooKeeperServer server =
                Servers.require(() -> ZooKeeperServer.builder().start())) {
            assertThat(server.mode()).isEqualTo("standalone");
            long before = server.metric("zk_packets_received");
            try (ZooKeeper client = connect(server.address())) {
                client.create("/kept", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
                assertThat(client.getSessionTimeout()).isEqualTo(10_000);
                assertThat(server.metric("zk_packets_received")).isGreaterThan(before);
            }
            server.restart();
            server.kill();
            server.start();
            try (ZooKeeper client = connect(server.address())) {
                assertThat(client.exists("/kept", false)).isNotNull();
            }
        }
    }

    @Test
    void theEnvironmentMayNameTheFolderOfItsJars(@TempDir Path folder) throws Exception {
        assertThat(ZooKeeperServer.classPath(name -> null)).isEqualTo(System.getProperty("java.class.path"));
        assertThatThrownBy(() -> ZooKeeperServer.classPath(name -> folder.toString()))
                .isInstanceOf(ServerException.class)
                .isNotInstanceOf(ServerUnavailableException.class)
                .hasMessageContaining("LOCKSTEP_ZOOKEEPER");
        Files.createFile(folder.resolve("zookeeper-3.8.4.jar"));
        assertThat(ZooKeeperServer.classPath(name -> folder.toString())).isEqualTo(folder + "/*");
    }

    @Test
    @Tag("full")
    void ensembleElectsAnotherLeaderWhenItsLeaderIsKilled() throws Exception {
        try (ServerGroup<ZooKeeperServer> ensemble =
                Servers.require(() -> ZooKeeperServer.builder().startEnsemble(3))) {
            ZooKeeperServer leader = ensemble.find(server -> server.mode().equals("leader"));
            try (ZooKeeper client = connect(ensemble.addresses())) {
                client.create("/kept", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            }
            leader.kill();
            await().atMost(Duration.ofSeconds(20))
                    .ignoreExceptions()
                    .until(() -> ensemble.find(server -> server.mode().equals("leader"))
                            .isAlive());
            try (ZooKeeper client = connect(ensemble.addresses())) {
                assertThat(client.exists("/kept", false)).isNotNull();
            }
            leader.start();
            assertThat(leader.mode()).isEqualTo("follower");
        }
    }

    @Test
    @Tag("full")
    void tlsIsServedOnAnotherPort() throws Exception {
        TestCertificates certificates = TestCertificates.get();
        ZKClientConfig configuration = new ZKClientConfig();
        configuration.setProperty("zookeeper.client.secure", "true");
        configuration.setProperty("zookeeper.clientCnxnSocket", "org.apache.zookeeper.ClientCnxnSocketNetty");
        configuration.setProperty(
                "zookeeper.ssl.trustStore.location", certificates.trustStore().toString());
        configuration.setProperty("zookeeper.ssl.trustStore.password", TestCertificates.PASSWORD);
        try (ZooKeeperServer server = Servers.require(
                        () -> ZooKeeperServer.builder().tls(certificates).start());
                ZooKeeper client = connect(ServerProcess.HOST + ":" + server.securePort(), configuration)) {
            assertThat(client.exists("/zookeeper", false)).isNotNull();
            assertThat(server.mode()).isEqualTo("standalone");
        }
    }

    @Test
    @Tag("full")
    void saslUserOwnsItsNodes() throws Exception {
        Configuration before = Configuration.getConfiguration();
        Configuration.setConfiguration(new Login("alice", "wonder"));
        ZKClientConfig configuration = new ZKClientConfig();
        configuration.setProperty("zookeeper.fips-mode", "false");
        try (ZooKeeperServer server = Servers.require(() ->
                        ZooKeeperServer.builder().saslUser("alice", "wonder").start());
                ZooKeeper alice = connect(server.address(), configuration)) {
            alice.create("/mine", new byte[0], Ids.CREATOR_ALL_ACL, CreateMode.PERSISTENT);
            assertThat(alice.getACL("/mine", null).get(0).getId()).isEqualTo(new Id("sasl", "alice"));
        } finally {
            Configuration.setConfiguration(before);
        }
    }

    /** The settings that ZooKeeper's client otherwise reads from a JAAS file. */
    private static final class Login extends Configuration {
        private final Map<String, String> user;

        Login(String name, String password) {
            user = Map.of("username", name, "password", password);
        }

        @Override
        public AppConfigurationEntry @Nullable [] getAppConfigurationEntry(String section) {
            AppConfigurationEntry entry =
                    new AppConfigurationEntry(DigestLoginModule.class.getName(), LoginModuleControlFlag.REQUIRED, user);
            return section.equals("Client") ? new AppConfigurationEntry[] {entry} : null;
        }
    }

    static ZooKeeper connect(String addresses) throws Exception {
        return connect(addresses, new ZKClientConfig());
    }

    private static ZooKeeper connect(String addresses, ZKClientConfig configuration) throws Exception {
        CountDownLatch connected = new CountDownLatch(1);
        Watcher watcher = event -> {
            if (event.getState() == KeeperState.SyncConnected) {
                connected.countDown();
            }
        };
        ZooKeeper client = new ZooKeeper(addresses, 10_000, watcher, configuration);
        assertThat(connected.await(20, TimeUnit.SECONDS)).isTrue();
        return client;
    }
}
