package dev.lockstep.servers;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Servers that are newer than this machine: each starts, is of its version, and survives a crash. */
@Tag("soak") // downloads up to 100 MB each
@Timeout(900)
class NewestServersTest {
    @Test
    void valkey9() {
        try (RedisServer redis = Servers.require(
                () -> RedisServer.builder().valkey9().persistent().start())) {
            assertThat(redis.info("valkey_version")).startsWith("9.");
            assertSurvivesACrash(redis);
        }
    }

    @Test
    void redis8() {
        try (RedisServer redis = Servers.require(
                () -> RedisServer.builder().redis8().persistent().start())) {
            assertThat(redis.info("redis_version")).startsWith("8.");
            assertSurvivesACrash(redis);
        }
    }

    private static void assertSurvivesACrash(RedisServer redis) {
        assertThat(redis.info("process_id")).isEqualTo(Long.toString(redis.pid()));
        redis.command("SET", "key", "value");
        redis.kill();
        redis.start();
        assertThat(redis.command("GET", "key")).isEqualTo("value");
    }

    @Test
    void etcd35() {
        try (EtcdServer etcd =
                Servers.require(() -> EtcdServer.builder().version35().start())) {
            assertThat(etcd.metric("etcd_server_version", "server_version=\"3.5."))
                    .isEqualTo(1);
            etcd.kill();
            etcd.start();
            assertThat(etcd.isLeader()).isTrue();
        }
    }

    @Test
    void postgres18() throws SQLException {
        try (PostgresServer postgres =
                Servers.require(() -> PostgresServer.builder().version18().start())) {
            assertThat(version(postgres)).startsWith("18.");
            postgres.kill();
            postgres.start();
            try (PostgresServer standby = postgres.startStandby()) {
                assertThat(version(standby)).startsWith("18.");
            }
        }
    }

    @Test
    void mysql9() throws SQLException {
        try (MySqlServer mysql = Servers.require(() -> MySqlServer.mysql9().start())) {
            assertThat(version(mysql)).startsWith("9.");
            mysql.kill();
            mysql.start();
            assertThat(version(mysql)).startsWith("9.");
        }
    }

    private static String version(SqlServer server) throws SQLException {
        try (Connection connection =
                DriverManager.getConnection(server.jdbcUrl(), SqlServer.USER, SqlServer.PASSWORD)) {
            return connection.getMetaData().getDatabaseProductVersion();
        }
    }
}
