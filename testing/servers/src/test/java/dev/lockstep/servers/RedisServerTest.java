package dev.lockstep.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.time.Duration;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class RedisServerTest {
    @Test
    void plainServerAnswersAndForgetsOnRestart() {
        try (RedisServer redis = Servers.require(() -> RedisServer.builder().start())) {
            assertThat(redis.command("SET", "key", "välue")).isEqualTo("OK");
            assertThat(redis.command("GET", "key")).isEqualTo("välue");
            assertThat(redis.url()).isEqualTo("redis://127.0.0.1:" + redis.port());
            redis.restart();
            assertThat(redis.command("GET", "key")).isEmpty();
        }
    }

    @Test
    void oldestServerIsOfVersion62() {
        try (RedisServer redis =
                Servers.require(() -> RedisServer.builder().version62().start())) {
            assertThat(redis.info("redis_version")).startsWith("6.2.");
        }
    }

    // tag::servers
    @Test
    void persistentServerKeepsItsDataOverACrash() {
        try (RedisServer redis =
                Servers.require(() -> RedisServer.builder().persistent().start())) {
            redis.command("SET", "key", "value");
            redis.kill();
            redis.start();
            assertThat(redis.command("GET", "key")).isEqualTo("value");
        }
    }
    // end::servers

    @Test
    void passwordAndUsersAreAskedFor() throws IOException {
        try (RedisServer redis = Servers.require(() -> RedisServer.builder()
                .password("secret")
                .user("alice on >wonder ~lock:* &* +@all")
                .user("bob on >builder ~* +get")
                .start())) {
            assertThat(redis.command("ACL", "USERS")).isEqualTo("alice\nbob\ndefault");
            try (RedisWire wire = new RedisWire(redis.port(), null)) {
                assertThatThrownBy(() -> wire.command("GET", "key")).hasMessageContaining("NOAUTH");
                wire.command("AUTH", "bob", "builder");
                assertThatThrownBy(() -> wire.command("SET", "key", "value")).hasMessageContaining("NOPERM");
            }
        }
    }

    @Test
    void evictionPolicyIsSet() {
        try (RedisServer redis = Servers.require(
                () -> RedisServer.builder().maxMemory(10_000_000, "allkeys-lru").start())) {
            assertThat(redis.command("CONFIG", "GET", "maxmemory-policy")).endsWith("allkeys-lru");
        }
    }

    @Test
    void wrongSettingIsReportedWithTheLog() {
        RedisServer.Builder builder = RedisServer.builder().setting("no-such-directive", "1");
        assertThatThrownBy(() -> Servers.require(builder::start))
                .isInstanceOf(ServerException.class)
                .hasMessageContaining("no-such-directive");
    }

    @Test
    void errorOfTheServerIsAnError() {
        try (RedisServer redis = Servers.require(() -> RedisServer.builder().start())) {
            assertThatThrownBy(() -> redis.command("NONSENSE"))
                    .isInstanceOf(ServerException.class)
                    .hasMessageContaining("NONSENSE");
        }
    }

    @Test
    @Tag("full")
    void tlsServerRefusesPlainText() throws IOException {
        TestCertificates certificates = TestCertificates.get();
        try (RedisServer redis =
                Servers.require(() -> RedisServer.builder().tls(certificates).start())) {
            assertThat(redis.url()).startsWith("rediss://");
            assertThat(redis.command("SET", "key", "value")).isEqualTo("OK");
            try (RedisWire wire = new RedisWire(redis.port(), null)) {
                assertThatThrownBy(() -> wire.command("PING")).isInstanceOf(IOException.class);
            }
            TestCertificates others = TestCertificates.get("other");
            try (RedisWire wire = new RedisWire(redis.port(), others.clientContext())) {
                assertThatThrownBy(() -> wire.command("PING")).isInstanceOf(SSLException.class);
            }
        }
    }

    @Test
    @Tag("full")
    void replicaFollowsThroughAProxyThatCanBeCut() {
        try (RedisServer primary = Servers.require(
                        () -> RedisServer.builder().password("secret").start());
                TcpProxy link = TcpProxy.to(primary);
                RedisServer replica = RedisServer.builder()
                        .password("secret")
                        .replicaOf(link.port())
                        .start()) {
            primary.command("SET", "key", "value");
            await().atMost(Duration.ofSeconds(20))
                    .until(() -> replica.command("GET", "key").equals("value"));
            link.blackHole();
            primary.command("SET", "key", "not replicated");
            assertThat(replica.command("GET", "key")).isEqualTo("value");
            replica.command("REPLICAOF", "NO", "ONE");
            assertThat(replica.info("role")).isEqualTo("master");
        }
    }

    @Test
    @Tag("full")
    void sentinelsPromoteAReplicaWhenThePrimaryIsKilled() {
        try (RedisSentinels redis =
                Servers.require(() -> RedisServer.builder().password("secret").startSentinels(2, 3))) {
            RedisServer first = redis.primary();
            assertThat(first).isSameAs(redis.servers().get(0));
            first.command("SET", "key", "value");
            redis.servers()
                    .servers()
                    .forEach(server -> await().atMost(Duration.ofSeconds(20))
                            .until(() -> server.command("GET", "key").equals("value")));
            first.kill();
            await().atMost(Duration.ofSeconds(30))
                    .until(() -> redis.primary() != first
                            && redis.primary().info("role").equals("master"));
            assertThat(redis.primary().command("GET", "key")).isEqualTo("value");
        }
    }

    @Test
    @Tag("full")
    void clusterFailsOverAndMovesSlots() {
        try (RedisCluster cluster = Servers.require(() -> RedisServer.builder().startCluster(3, 1))) {
            assertThat(cluster.servers()).hasSize(6);
            int slot = cluster.slot("{order}:42");
            RedisServer owner = cluster.owner(slot);
            RedisServer other = cluster.find(
                    server -> server != owner && server.info("role").equals("master"));
            owner.command("SET", "{order}:42", "value");
            assertThatThrownBy(() -> other.command("GET", "{order}:42")).hasMessageContaining("MOVED");

            cluster.moveSlot(slot, other);
            assertThat(other.command("GET", "{order}:42")).isEqualTo("value");
            await().atMost(Duration.ofSeconds(20)).until(() -> cluster.owner(slot) == other);

            // A replica that is new and online may be sent nothing for a second. WAIT would not tell: it asks about the
            // writes of its own connection.
            RedisServer replica =
                    cluster.find(server -> server.info("master_port").equals(Integer.toString(other.port())));
            await().atMost(Duration.ofSeconds(20))
                    .until(() -> replica.command("DBSIZE").equals("1"));
            other.kill();
            await().atMost(Duration.ofSeconds(30))
                    .ignoreExceptions()
                    .until(() ->
                            cluster.owner(slot).command("GET", "{order}:42").equals("value"));
        }
    }
}
