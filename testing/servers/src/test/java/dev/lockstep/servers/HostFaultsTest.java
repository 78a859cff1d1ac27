package dev.lockstep.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Supplier;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Tag("full")
@Timeout(180)
class HostFaultsTest {
    private static final Duration HOUR = Duration.ofHours(1);

    private HostFaults host;

    @BeforeEach
    void create() {
        host = Servers.require(HostFaults::create);
    }

    @AfterEach
    void close() {
        host.close();
    }

    private static void assertOff(Duration off, long epochSeconds) {
        assertThat(Instant.ofEpochSecond(epochSeconds))
                .isBetween(
                        Instant.now().plus(off).minusSeconds(20),
                        Instant.now().plus(off).plusSeconds(20));
    }

    @Test
    void clockOfARunningServerIsSetForwardAndBack() {
        try (RedisServer redis =
                Servers.require(() -> RedisServer.builder().on(host).start())) {
            for (Duration off : new Duration[] {Duration.ZERO, HOUR, HOUR.negated(), Duration.ZERO}) {
                host.clockOff(off);
                assertOff(
                        off,
                        Long.parseLong(redis.command("TIME").lines().findFirst().orElseThrow()));
            }
        }
    }

    @Test
    void clockOfAnotherProcessIsOff() throws Exception {
        host.clockOff(HOUR.negated());
        ProcessBuilder date = new ProcessBuilder("date", "+%s");
        date.environment().putAll(host.environment());
        String printed = new String(date.start().getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
        assertOff(HOUR.negated(), Long.parseLong(printed.strip()));
    }

    @Test
    void redisSeesTheFullAndTheSlowDisk() {
        try (RedisServer redis = Servers.require(
                () -> RedisServer.builder().persistent().on(host).start())) {
            redis.command("CONFIG", "SET", "appendfsync", "everysec"); // else it ends when it cannot write
            host.diskFull(true);
            assertThatThrownBy(() -> {
                        for (int i = 0; i < 10_000; i++) {
                            redis.command("SET", "key", "value");
                        }
                    })
                    .isInstanceOf(ServerException.class)
                    .hasMessageContaining("No space left");
            host.diskFull(false);
            Await.until(
                    "it writes again",
                    Duration.ofSeconds(20),
                    () -> redis.command("SET", "key", "value").equals("OK"));
            redis.command("CONFIG", "SET", "appendfsync", "always");
            Duration late = Duration.ofMillis(300);
            host.diskSlow(late);
            long start = System.nanoTime();
            redis.command("SET", "key", "value");
            assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(late.toNanos());
            host.diskSlow(Duration.ZERO);
        }
    }

    @Test
    void zooKeeperSeesTheFullAndTheSlowDisk() throws Exception {
        try (ZooKeeperServer server = Servers.require(
                        () -> ZooKeeperServer.builder().durable().on(host).start());
                ZooKeeper client = ZooKeeperServerTest.connect(server.address())) {
            Duration late = Duration.ofMillis(300);
            host.diskSlow(late);
            long start = System.nanoTime();
            create(client, "/slow");
            assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(late.toNanos());
            host.diskSlow(Duration.ZERO);
            host.diskFull(true);
            assertThatThrownBy(() -> create(client, "/full")).isInstanceOf(KeeperException.class);
            host.diskFull(false);
        }
    }

    private static void create(ZooKeeper client, String path) throws Exception {
        client.create(path, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    }

    @Test
    void postgresSeesTheClockAndTheFullDisk() throws SQLException {
        seesTheFaults(() -> PostgresServer.builder().on(host).start(), "SELECT EXTRACT(EPOCH FROM clock_timestamp())");
    }

    @Test
    void mariaDbSeesTheClockAndTheFullDisk() throws SQLException {
        seesTheFaults(() -> MySqlServer.mariaDb().on(host).start(), "SELECT UNIX_TIMESTAMP(SYSDATE())");
    }

    @Test
    void mySqlSeesTheClockAndTheFullDisk() throws SQLException {
        seesTheFaults(() -> MySqlServer.builder().on(host).start(), "SELECT UNIX_TIMESTAMP(SYSDATE())");
    }

    private void seesTheFaults(Supplier<SqlServer> start, String clock) throws SQLException {
        try (SqlServer server = Servers.require(start);
                Connection connection = SqlServersTest.connect(server)) {
            host.clockOff(HOUR);
            assertOff(HOUR, (long) Double.parseDouble(SqlServersTest.query(connection, clock)));
            host.clockOff(Duration.ZERO);
            connection.createStatement().execute("CREATE TABLE t (text VARCHAR(4000))");
            String filling = "INSERT INTO t VALUES ('" + "x".repeat(4_000) + "')";
            host.diskFull(true);
            assertThatThrownBy(() -> {
                        for (int i = 0; i < 10_000; i++) {
                            connection.createStatement().execute(filling);
                        }
                    })
                    .isInstanceOf(SQLException.class)
                    .hasMessageMatching("(?s).*(No space left|is full).*");
            host.diskFull(false);
            connection.createStatement().execute(filling);
        }
    }
}
