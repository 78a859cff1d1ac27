package dev.lockstep.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.TcpProxy;
import dev.lockstep.servers.TestCertificates;
import dev.lockstep.servers.ZooKeeperServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.zookeeper.ZKUtil;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.server.auth.DigestAuthenticationProvider;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Passwords and certificates change while a client is open. */
@Tag("full")
@Timeout(120)
class RotationTest {
    private static ZooKeeperServer server;

    @TempDir
    private Path folder;

    @BeforeAll
    static void start() {
        server = Servers.require(
                () -> ZooKeeperServer.builder().tls(TestCertificates.get()).start());
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    /** As the manual has it: admit both users, change the password, and no longer admit the old user. */
    @Test
    void aPasswordThatHasChangedIsReadAgainFromItsFileAndItsSupplier() throws Exception {
        Path file = Files.writeString(folder.resolve("password"), "old\n");
        AtomicReference<String> supplied = new AtomicReference<>("old");
        String url = "zookeeper://app@" + server.address() + "?passwordFile=" + file;
        try (LockClient locks = connect(url, "digest");
                LockClient others = builder("digest")
                        .backend(ZooKeeperEngine.at(server.address()).digest("app", supplied::get))
                        .connect();
                RawClient operator = new RawClient(server.address())) {
            locks.lock("held").lock();
            others.lock("held by others").lock();
            operator.handle().addAuthInfo("digest", "app:old".getBytes());
            operator.handle().addAuthInfo("digest", "app:new".getBytes());
            allow(operator.handle(), "app:old", "app:new");
            Files.writeString(file, "new\n");
            supplied.set("new");
            try (LockClient fresh = connect(url, "digest")) {
                assertThat(fresh.lock("held").tryLock()).isFalse();
                allow(operator.handle(), "app:new");
                await().ignoreException(LockConfigurationException.class)
                        .until(() -> locks.lock("one").tryLock());
                await().ignoreException(LockConfigurationException.class)
                        .until(() -> others.lock("two").tryLock());
                others.lock("held by others").unlock();
                locks.lock("held").unlock();
                assertThat(fresh.lock("held").tryLock()).isTrue();
            }
        }
        String old = url.replace("app@", "app:old@").replaceFirst("\\?.*", "");
        try (LockClient late = connect(old, "digest")) {
            assertThatThrownBy(() -> late.lock("held").tryLock()).isInstanceOf(LockConfigurationException.class);
        } catch (LockConfigurationException e) {
            assertThat(e).hasMessageContaining(server.address()); // an immediate refusal is fine, too
        }
    }

    /** Gives the nodes of the namespace another access list. */
    private static void allow(ZooKeeper zooKeeper, String... users) throws Exception {
        List<ACL> list = new ArrayList<>();
        for (String user : users) {
            list.add(new ACL(ZooDefs.Perms.ALL, new Id("digest", DigestAuthenticationProvider.generateDigest(user))));
        }
        for (String path : ZKUtil.listSubTreeBFS(zooKeeper, "/lockstep")) {
            if (path.startsWith("/lockstep/")) {
                zooKeeper.setACL(path, list, -1);
            }
        }
    }

    @Test
    void aPasswordIsInOnePlace() {
        for (String url : new String[] {
            "zookeeper://app:s3cret@localhost?passwordFile=" + folder, "zookeeper://localhost?passwordFile=x"
        }) {
            assertThatThrownBy(() -> Url.parse(url))
                    .as(url)
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining("passwordFile")
                    .hasMessageNotContaining("s3cret");
        }
    }

    @Test
    void certificatesToTrustAreReadAgain() throws Exception {
        Path trust = trust("usual");
        try (TcpProxy proxy = TcpProxy.to(server.securePort());
                LockClient locks = connect(
                        "zookeeper://localhost:" + proxy.port() + "?tls=on&zookeeper.ssl.trustStore.location=" + trust
                                + "&zookeeper.ssl.trustStore.password=" + TestCertificates.PASSWORD,
                        "tls")) {
            locks.lock("one").lock();
            trust("other");
            proxy.resetConnections();
            assertThatThrownBy(() -> locks.lock("two").tryLock()).isInstanceOf(LockUnavailableException.class);
            trust("usual");
            await().ignoreException(LockUnavailableException.class)
                    .until(() -> locks.lock("two").tryLock());
            locks.lock("one").unlock();
        }
    }

    @Test
    void aTrustStoreWithoutCertificatesIsRefused() throws Exception {
        for (String file : List.of("trust.pem", "trust.p12", "trust.jks")) {
            Path trust = Files.writeString(folder.resolve(file), "");
            assertThatThrownBy(() -> connect(
                            "zookeeper://localhost:" + server.securePort()
                                    + "?tls=on&zookeeper.ssl.trustStore.location=" + trust,
                            "tls"))
                    .isInstanceOf(LockConfigurationException.class);
        }
    }

    private Path trust(String authority) throws Exception {
        return Files.copy(
                TestCertificates.get(authority).trustStore(),
                folder.resolve("trust.p12"),
                StandardCopyOption.REPLACE_EXISTING);
    }

    private static LockClient connect(String url, String namespace) {
        return builder(namespace).url(url).connect();
    }

    private static LockClient.Builder builder(String namespace) {
        return LockClient.builder().namespace(namespace).requestTimeout(Duration.ofSeconds(10));
    }
}
