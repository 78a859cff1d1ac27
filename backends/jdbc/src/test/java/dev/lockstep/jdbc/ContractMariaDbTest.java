package dev.lockstep.jdbc;

import dev.lockstep.servers.MySqlServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.SqlServer;
import dev.lockstep.tck.Capability;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The contract on MariaDb. */
@Tag("full")
class ContractMariaDbTest extends MySqlContract {
    @AutoClose
    private static SqlServer server;

    @BeforeAll
    static void startServer() throws SQLException {
        server = Servers.require(() -> MySqlServer.mariaDb().start());
        // This driver takes passwords from URLs as they are, so one with an ampersand has no place there.
        try (Connection connection = DriverManager.getConnection(server.jdbcUrl(), SqlServer.USER, SqlServer.PASSWORD);
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE USER tck IDENTIFIED BY 'tck'");
            statement.execute("GRANT ALL ON *.* TO tck WITH GRANT OPTION");
        }
    }

    @Override
    SqlFixture.Database database() {
        return new ServerDatabase(server, "tck", "tck", SqlFixture.common(Capability.RESTART_SERVER));
    }

    @Test
    void encryptionThatTheServerLacksIsAWrongSetUp() {
        assertTlsIsAWrongSetUp("trust");
    }

    /** Waits for locks that are not necessary. */
    @Nested
    class Deadlocks {
        @Test
        void sixteenThreadsCauseNone() throws Exception {
            MySqlDeadlocks.assertNone(server, database().url(), "SHOW GLOBAL STATUS LIKE 'Innodb_deadlocks'");
        }
    }
}
