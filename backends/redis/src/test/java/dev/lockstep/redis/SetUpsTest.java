package dev.lockstep.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.LockstepException;
import dev.lockstep.redis.internal.StartUpCheck;
import dev.lockstep.servers.Logged;
import dev.lockstep.servers.RedisCluster;
import dev.lockstep.servers.RedisSentinels;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.TestCertificates;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.RedisSentinelClient;

/** The ways in which a Redis is set up, and how one logs in. */
@Tag("full")
@Timeout(120)
class SetUpsTest {
    private static final String SECRET = "s3cret";

    private static LockClient connect(String url) {
        return LockClient.builder()
                .url(url)
                .requestTimeout(Bench.PATIENCE) // the first encrypted connection of a busy JVM takes its time
                .connect();
    }

    /** Connects to what is not there, which is tried for the request timeout. */
    private static LockClient connectSoon(String url) {
        return LockClient.builder()
                .url(url)
                .requestTimeout(Duration.ofMillis(500))
                .connect();
    }

    private static void works(String url) throws Exception {
        try (LockClient first = connect(url);
                LockClient second = connect(url)) {
            Probe.works(first, second);
        }
    }

    /** Fails to connect, with a message that says why, without the password. */
    private static void refused(Class<? extends LockstepException> type, String word, ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOf(type).hasMessageContaining(word).satisfies(error -> {
            StringWriter all = new StringWriter();
            error.printStackTrace(new PrintWriter(all));
            assertThat(all.toString()).doesNotContain(SECRET);
        });
    }

    @Nested
    class Login {
        @Test
        void aPasswordIsGiven() throws Exception {
            try (RedisServer server =
                    Servers.require(() -> RedisServer.builder().password(SECRET).start())) {
                worksOnlyWithThePassword("redis://", server.address());
            }
        }

        @Test
        void aPasswordIsGivenToACluster() throws Exception {
            try (RedisCluster cluster =
                    Servers.require(() -> RedisServer.builder().password(SECRET).startCluster(3, 0))) {
                worksOnlyWithThePassword("redis-cluster://", cluster.addresses());
            }
        }

        private void worksOnlyWithThePassword(String scheme, String addresses) throws Exception {
            works(scheme + ":" + SECRET + "@" + addresses);
            for (String without : List.of("", ":" + SECRET + "x@")) {
                refused(
                        LockConfigurationException.class,
                        "user and password",
                        () -> connect(scheme + without + addresses));
            }
        }

        private static final String RULES = "locker on >" + SECRET + "@/% " + Rights.ofTheManual();

        private static final String LOCKER = "locker:" + SECRET + "%40%2F%25@";

        @Test
        void aUserNeedsNoMoreRightsThanTheDocumentationNames() throws Exception {
            try (RedisServer server = Servers.require(
                    () -> RedisServer.builder().user(RULES + " +set +get").start())) {
                works("redis://" + LOCKER + server.address());
                try (LockClient plain = connect("redis://" + LOCKER + server.address() + "?queue=off")) {
                    plain.lock("plain").lock();
                    assertThat(plain.list("")).hasSize(1);
                    plain.lock("plain").unlock();
                }
                refused(
                        LockConfigurationException.class,
                        "user and password",
                        () -> connect("redis://nobody:" + SECRET + "@" + server.address()));
            }
        }

        @Test
        void aUserOfAClusterNeedsNoMoreRightsEither() throws Exception {
            try (RedisCluster cluster = Servers.require(() -> RedisServer.builder()
                    .user(RULES + " +role +cluster +asking")
                    .startCluster(3, 0))) {
                works("redis-cluster://" + LOCKER + cluster.addresses());
            }
        }

        @Test
        void aUserWithoutRightsGetsAnError() {
            String noScripts = "reader on >" + SECRET + " ~* &* +@all -evalsha";
            String noKeys = "stranger on >" + SECRET + " ~other:* &* +@all";
            String noInfo = "blind on >" + SECRET + " ~* &* +@all -info";
            String noChannel = "deaf on >" + SECRET + " ~* resetchannels +@all";
            try (RedisServer server = Servers.require(() -> RedisServer.builder()
                    .user(noScripts)
                    .user(noKeys)
                    .user(noChannel)
                    .user(noInfo)
                    .start())) {
                for (String user : new String[] {"reader", "stranger"}) {
                    try (LockClient client = connect("redis://" + user + ":" + SECRET + "@" + server.address())) {
                        refused(
                                LockConfigurationException.class,
                                "rights",
                                () -> client.lock("a").lock());
                        refused(
                                LockConfigurationException.class,
                                "rights",
                                () -> client.lock("a").tryLock());
                        refused(LockConfigurationException.class, "rights", () -> client.inspect("a"));
                    }
                }
                refused(
                        LockConfigurationException.class,
                        "rights",
                        () -> connect("redis://deaf:" + SECRET + "@" + server.address()));
                try (LockClient client = connect("redis://blind:" + SECRET + "@" + server.address())) {
                    assertThat(client.describe().version()).isEmpty();
                    assertThat(client.describe().limits())
                            .anyMatch(line -> line.contains("has no permission for INFO"));
                }
            }
        }
    }

    @Nested
    class Tls {
        @Test
        void theServersCertificateIsChecked() throws Exception {
            try (RedisServer server = Servers.require(
                    () -> RedisServer.builder().tls(TestCertificates.get()).start())) {
                works(server.url() + "?ca=" + TestCertificates.get().caCertificate());
                String other = TestCertificates.get("other").caCertificate().toString();
                refused(LockUnavailableException.class, "TLS: ", () -> connect(server.url() + "?ca=" + other));
                refused(LockUnavailableException.class, "TLS: ", () -> connect(server.url()));
                refused(LockUnavailableException.class, "", () -> connect("redis://" + server.address()));
            }
        }

        @Test
        void aServerWithoutTlsIsNotTalkedTo() {
            try (RedisServer server =
                    Servers.require(() -> RedisServer.builder().start())) {
                refused(
                        LockUnavailableException.class,
                        "",
                        () -> connect("rediss://:" + SECRET + "@" + server.address()));
            }
        }
    }

    @Nested
    class OfTheApplication {
        @Test
        void aClientOfASingleServerIsUsedAndLeftOpen() throws Exception {
            try (RedisServer server =
                            Servers.require(() -> RedisServer.builder().start());
                    RedisClient jedis = RedisClient.create("127.0.0.1", server.port())) {
                RedisEngine backend = RedisEngine.on(jedis).waiterExpiry(Duration.ofSeconds(2));
                try (LockClient first = LockClient.builder().backend(backend).connect();
                        LockClient second =
                                LockClient.builder().backend(backend).connect()) {
                    Probe.works(first, second);
                }
                assertThat(jedis.ping()).isEqualTo("PONG");
                try (LockClient plain = LockClient.builder()
                        .backend(RedisEngine.on(jedis).withoutQueue())
                        .namespace("plain")
                        .connect()) {
                    plain.lock("a").lock();
                    assertThat(jedis.type("lockstep:{plain:a}")).isEqualTo("string");
                    plain.lock("a").unlock();
                }
                assertThatThrownBy(() -> RedisEngine.on(jedis).replicas(-1))
                        .isInstanceOf(IllegalArgumentException.class);
                assertThatThrownBy(() -> RedisEngine.on(jedis).waiterExpiry(Duration.ofMillis(1)))
                        .isInstanceOf(IllegalArgumentException.class);
            }
        }

        @Test
        void aClientOfSentinelsIsUsed() throws Exception {
            try (RedisSentinels setUp =
                            Servers.require(() -> RedisServer.builder().startSentinels(1, 1));
                    RedisSentinelClient jedis = RedisSentinelClient.builder()
                            .masterName(RedisSentinels.PRIMARY_NAME)
                            .sentinels(Set.of(new HostAndPort(
                                    "127.0.0.1", setUp.sentinels().get(0).port())))
                            .build()) {
                try (LockClient first = LockClient.builder()
                                .backend(RedisEngine.on(jedis))
                                .connect();
                        LockClient second = LockClient.builder()
                                .backend(RedisEngine.on(jedis))
                                .connect()) {
                    Probe.works(first, second);
                }
            }
        }

        @Test
        void aClientOfAClusterIsUsed() throws Exception {
            try (RedisCluster cluster =
                            Servers.require(() -> RedisServer.builder().startCluster(3, 0));
                    RedisClusterClient jedis = RedisClusterClient.create(
                            new HostAndPort("127.0.0.1", cluster.get(0).port()))) {
                try (LockClient first = LockClient.builder()
                                .backend(RedisEngine.on(jedis))
                                .connect();
                        LockClient second = LockClient.builder()
                                .backend(RedisEngine.on(jedis))
                                .connect()) {
                    Probe.works(first, second);
                }
            }
        }
    }

    @Nested
    class StartUp {
        @Test
        void noServerIsAnError() {
            refused(
                    LockUnavailableException.class,
                    "127.0.0.1:1",
                    () -> connectSoon("redis://:" + SECRET + "@127.0.0.1:1"));
            refused(LockUnavailableException.class, "", () -> connectSoon("redis-sentinel://127.0.0.1:1/primary"));
            refused(LockUnavailableException.class, "", () -> connectSoon("redis-cluster://127.0.0.1:1"));
            refused(LockUnavailableException.class, "", () -> connectSoon("redis://no.such.host.invalid"));
        }

        /** As a service that starts while its Redis restarts. */
        @Test
        void aServerThatRestartsIsWaitedFor() throws Exception {
            try (RedisServer server =
                    Servers.require(() -> RedisServer.builder().start())) {
                server.kill();
                CompletableFuture<Void> started = CompletableFuture.runAsync(
                        server::start, CompletableFuture.delayedExecutor(700, TimeUnit.MILLISECONDS));
                works(server.url());
                started.get();
            }
        }

        @Test
        void aMajorityThatRestartsIsWaitedFor() throws Exception {
            List<RedisServer> servers = Redlocks.start(3, RedisServer.builder().persistent());
            try (Redlocks all = Redlocks.of(servers)) {
                servers.subList(0, 2).forEach(RedisServer::kill);
                CompletableFuture<Void> started = CompletableFuture.runAsync(
                        () -> servers.subList(0, 2).forEach(RedisServer::start),
                        CompletableFuture.delayedExecutor(700, TimeUnit.MILLISECONDS));
                all.client(Redlocks.url(servers), Duration.ofSeconds(2), Bench.PATIENCE);
                started.get();
            }
        }

        @Test
        void aPolicyThatEvictsLocksIsRefused() throws Exception {
            try (RedisServer server = Servers.require(() ->
                    RedisServer.builder().maxMemory(100_000_000, "volatile-lru").start())) {
                refused(LockConfigurationException.class, "noeviction", () -> connect(server.url()));
                refused(LockConfigurationException.class, "noeviction", () -> connect(server.url() + "?queue=off"));
                refused(LockConfigurationException.class, "eviction=accept", () -> connect(server.url()));
                try (Logged log = new Logged()) {
                    works(server.url() + "?eviction=accept");
                    assertThat(log.tells("WARN", "volatile-lru")).isTrue();
                }
                try (LockClient accepting = connect(server.url() + "?eviction=accept")) {
                    assertThat(accepting.describe().limits()).anyMatch(line -> line.contains("eviction"));
                }
                refused(
                        LockConfigurationException.class,
                        "noeviction",
                        () -> connect(server.url() + "?eviction=refuse"));
                server.command("CONFIG", "SET", "maxmemory-policy", "noeviction");
                works(server.url());
            }
        }

        @Test
        void aReplicaIsRefused() throws Exception {
            try (RedisServer primary =
                            Servers.require(() -> RedisServer.builder().start());
                    RedisServer replica =
                            RedisServer.builder().replicaOf(primary.port()).start()) {
                refused(LockConfigurationException.class, "replica", () -> connect(replica.url()));
                works(primary.url());
            }
        }

        @Test
        void aNodeOfAClusterIsRefusedByAUrlForASingleServer() {
            try (RedisCluster cluster =
                    Servers.require(() -> RedisServer.builder().startCluster(3, 0))) {
                refused(
                        LockConfigurationException.class,
                        "redis-cluster",
                        () -> connect(cluster.get(0).url()));
            }
        }

        @Test
        void anOldServerIsRefused() {
            for (String old : new String[] {"2.8.24", "5.0.14", "6.0.16"}) {
                assertThatThrownBy(() -> StartUpCheck.check("redis_version:" + old + "\r\n", "there", false, false))
                        .isInstanceOf(LockConfigurationException.class)
                        .hasMessageContaining(old)
                        .hasMessageContaining("6.2");
            }
            for (String good : new String[] {"6.2.0", "7.0.15", "8.2.1", "255.255.255", "next"}) {
                StartUpCheck.check("# Server\r\nredis_version:" + good + "\r\n", "there", false, false);
            }
        }
    }
}
