package dev.lockstep.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.redis.internal.Url;
import dev.lockstep.servers.RedisCluster;
import dev.lockstep.servers.RedisSentinels;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.TcpProxy;
import dev.lockstep.servers.TestCertificates;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Passwords and certificates change while a client is open. */
@Tag("full")
@Timeout(60)
class RotationTest {
    private static final Duration TTL = Duration.ofSeconds(3);

    @TempDir
    private Path folder;

    @Test
    void aPasswordThatHasChangedIsReadFromItsFile() throws Exception {
        try (RedisServer server = Servers.require(() -> RedisServer.builder().start())) {
            passwordThatHasChanged(List.of(server), "redis://app@" + server.address());
        }
    }

    @Test
    void onAllServersOfRedlockAPasswordThatHasChangedIsReadFromItsFile() throws Exception {
        try (Redlocks set = Redlocks.start(3)) {
            String url = Redlocks.url(set.servers()).replace("redlock://", "redlock://app@");
            passwordThatHasChanged(set.servers(), url);
        }
    }

    @Test
    void onAllNodesOfAClusterAPasswordThatHasChangedIsReadFromItsFile() throws Exception {
        try (RedisCluster cluster = Servers.require(() -> RedisServer.builder().startCluster(3, 0))) {
            passwordThatHasChanged(cluster.servers(), "redis-cluster://app@" + cluster.addresses());
        }
    }

    @Test
    void behindSentinelsAPasswordThatHasChangedIsReadFromItsFile() throws Exception {
        try (RedisSentinels setUp = Servers.require(() -> RedisServer.builder().startSentinels(1, 1))) {
            passwordThatHasChanged(
                    setUp.servers().servers(),
                    "redis-sentinel://app@" + setUp.sentinels().addresses() + "/" + RedisSentinels.PRIMARY_NAME);
        }
    }

    private void passwordThatHasChanged(List<RedisServer> servers, String url) throws Exception {
        Path file = Files.writeString(folder.resolve("password"), "old\n");
        servers.forEach(server -> server.command("ACL", "SETUSER", "app", "on", ">old", "~*", "&*", "+@all"));
        try (LockClient locks = connect(url + "?passwordFile=" + file)) {
            Lease held = locks.lock("held").acquireAsync().get();

            servers.forEach(server -> server.command("ACL", "SETUSER", "app", "resetpass", ">new"));
            Files.writeString(file, "new\n");
            servers.forEach(server -> server.command("CLIENT", "KILL", "USER", "app"));

            await().during(TTL).atMost(TTL.multipliedBy(3)).until(held::isValid); // renewed by new connections
            assertThat(locks.lock("other").tryLock()).isTrue();
            held.close();
        }
        assertThatThrownBy(() -> connect(url.replace("app@", "app:old@")))
                .isInstanceOf(LockConfigurationException.class);
    }

    @Test
    void theDefaultUsersPasswordMayBeInAFileToo() throws Exception {
        Path file = Files.writeString(folder.resolve("password"), "s3cret");
        try (RedisServer server =
                Servers.require(() -> RedisServer.builder().password("s3cret").start())) {
            connect("redis://" + server.address() + "?passwordFile=" + file).close();
            Files.writeString(file, "wrong");
            assertThatThrownBy(() -> connect("redis://" + server.address() + "?passwordFile=" + file))
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageNotContaining("wrong ");
        }
    }

    @Test
    void aPasswordIsInOnePlace() {
        for (String url : new String[] {
            "redis://app:s3cret@localhost?passwordFile=" + folder, "redis://app@localhost", "redis://app:@localhost"
        }) {
            assertThatThrownBy(() -> Url.parse(url))
                    .as(url)
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining("passwordFile")
                    .hasMessageNotContaining("s3cret");
        }
        assertThatThrownBy(() -> Url.parse("redis://localhost?passwordFile=/nowhere"))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining("/nowhere");
    }

    @Test
    void certificatesToTrustAreReadAgain() throws Exception {
        Path ca = trust("usual");
        try (RedisServer server = Servers.require(
                        () -> RedisServer.builder().tls(TestCertificates.get()).start());
                TcpProxy proxy = TcpProxy.to(server);
                LockClient locks = connect("rediss://localhost:" + proxy.port() + "?ca=" + ca)) {
            locks.lock("one").lock();
            locks.lock("one").unlock();
            trust("other");
            proxy.resetConnections();
            assertThatThrownBy(() -> locks.lock("two").tryLock()).isInstanceOf(LockUnavailableException.class);
            Files.writeString(ca, "not a certificate"); // what was there before counts, and a warning is logged
            assertThatThrownBy(() -> locks.lock("two").tryLock()).isInstanceOf(LockUnavailableException.class);
            trust("usual");
            await().ignoreExceptions().until(() -> locks.lock("two").tryLock());
        }
    }

    /** A file may be empty for a moment while it is replaced. */
    @Test
    void anEmptyFileOfCertificatesDoesNotReplaceThem() throws Exception {
        Path ca = trust("usual");
        try (RedisServer server = Servers.require(
                        () -> RedisServer.builder().tls(TestCertificates.get()).start());
                TcpProxy proxy = TcpProxy.to(server);
                LockClient locks = connect("rediss://localhost:" + proxy.port() + "?ca=" + ca)) {
            Files.writeString(ca, "");
            proxy.resetConnections();
            await().ignoreExceptions().until(() -> locks.lock("one").tryLock());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "\n", "# a comment\n", "not a certificate"})
    void aFileWithoutCertificatesIsRefused(String content) throws Exception {
        Path ca = Files.writeString(folder.resolve("ca.pem"), content);
        for (String url : new String[] {"rediss://a", "rediss-cluster://a,b", "redlocks://a,b,c"}) {
            assertThatThrownBy(() -> Url.parse(url + "?ca=" + ca))
                    .as(url)
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining("The option ca is not a PEM file with certificates");
        }
    }

    private Path trust(String authority) throws Exception {
        return Files.copy(
                TestCertificates.get(authority).caCertificate(),
                folder.resolve("ca.pem"),
                StandardCopyOption.REPLACE_EXISTING);
    }

    private static LockClient connect(String url) {
        return LockClient.builder()
                .url(url)
                .ttl(TTL)
                .requestTimeout(Duration.ofSeconds(2))
                .connect();
    }
}
