package dev.lockstep.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.function.Supplier;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class SqlServersTest {
    @Nested
    class Postgres {
        @Test
        void keepsItsDataOverARestartAndACrash() throws SQLException {
            keepsData(() -> PostgresServer.builder().start());
        }

        @Test
        void pauseStopsTheProcessesOfItsConnectionsToo() throws SQLException {
            try (PostgresServer server =
                            Servers.require(() -> PostgresServer.builder().start());
                    Connection connection = connect(server)) {
                server.pause();
                connection.setNetworkTimeout(Runnable::run, 300);
                assertThatThrownBy(() -> connection.createStatement().execute("SELECT 1"))
                        .isInstanceOf(SQLException.class);
                server.resume();
                try (Connection again = connect(server)) {
                    assertThat(query(again, "SELECT 1")).isEqualTo("1");
                }
            }
        }

        @Test
        @Tag("full")
        void standbyFollowsAndCanBePromoted() throws SQLException {
            try (PostgresServer primary =
                            Servers.require(() -> PostgresServer.builder().start());
                    PostgresServer standby = primary.startStandby()) {
                try (Connection toPrimary = connect(primary);
                        Connection toStandby = connect(standby)) {
                    toPrimary.createStatement().execute("CREATE TABLE t (i INT)");
                    toPrimary.createStatement().execute("INSERT INTO t VALUES (42)");
                    await().ignoreExceptions()
                            .until(() -> query(toStandby, "SELECT i FROM t").equals("42"));
                    assertThatThrownBy(() -> toStandby.createStatement().execute("INSERT INTO t VALUES (43)"))
                            .hasMessageContaining("read-only");
                    primary.kill();
                    standby.promote();
                    toStandby.createStatement().execute("INSERT INTO t VALUES (43)");
                }
                standby.restart();
                try (Connection again = connect(standby)) {
                    assertThat(query(again, "SELECT count(*) FROM t")).isEqualTo("2");
                }
            }
        }

        @Test
        void wrongPasswordIsRefused() {
            try (PostgresServer server =
                    Servers.require(() -> PostgresServer.builder().start())) {
                assertThatThrownBy(() -> DriverManager.getConnection(server.jdbcUrl(), SqlServer.USER, "wrong"))
                        .isInstanceOf(SQLException.class)
                        .hasMessageContaining("password");
            }
        }
    }

    @Nested
    class Pooler {
        @Test
        @Tag("full")
        void passesTransactionsOn() throws SQLException {
            try (PostgresServer server =
                            Servers.require(() -> PostgresServer.builder().start());
                    PgBouncer pooler = Servers.require(() -> PgBouncer.inFrontOf(server));
                    Connection connection = DriverManager.getConnection(
                            server.jdbcUrl(pooler.port()) + "?prepareThreshold=0",
                            SqlServer.USER,
                            SqlServer.PASSWORD)) {
                assertThat(query(connection, "SELECT 40 + 2")).isEqualTo("42");
            }
        }
    }

    @Nested
    class MariaDb {
        @Test
        @Tag("full")
        void keepsItsDataOverARestartAndACrash() throws SQLException {
            keepsData(() -> MySqlServer.mariaDb().start());
        }
    }

    @Nested
    class MySql {
        @Test
        @Tag("full")
        void keepsItsDataOverARestartAndACrash() throws SQLException {
            keepsData(() -> MySqlServer.builder().start());
        }
    }

    private static void keepsData(Supplier<SqlServer> start) throws SQLException {
        try (SqlServer server = Servers.require(start)) {
            try (Connection connection = connect(server)) {
                connection.createStatement().execute("CREATE TABLE t (i INT)");
                connection.createStatement().execute("INSERT INTO t VALUES (42)");
            }
            server.restart();
            try (Connection connection = connect(server)) {
                connection.createStatement().execute("INSERT INTO t VALUES (43)");
                server.kill();
            }
            server.start();
            try (Connection connection = connect(server)) {
                assertThat(query(connection, "SELECT count(*) FROM t")).isEqualTo("2");
            }
        }
    }

    static Connection connect(SqlServer server) throws SQLException {
        return DriverManager.getConnection(server.jdbcUrl(), SqlServer.USER, SqlServer.PASSWORD);
    }

    static String query(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery(sql)) {
            result.next();
            return result.getString(1);
        }
    }
}
