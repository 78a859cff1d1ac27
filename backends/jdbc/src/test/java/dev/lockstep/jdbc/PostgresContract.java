package dev.lockstep.jdbc;

import dev.lockstep.servers.PostgresServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.SqlServer;
import dev.lockstep.tck.Capability;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** The contract, and what is to be shown on PostgreSQL beside it. */
abstract class PostgresContract extends SqlContract {
    @AutoClose
    private static @Nullable SqlServer server;

    /** Starts the server, or skips the class. */
    static void startServer(PostgresServer.Builder builder) {
        server = Servers.require(builder::start);
    }

    private static SqlServer server() {
        return Objects.requireNonNull(server);
    }

    @Override
    SqlFixture.Database database() {
        return new ServerDatabase(
                server(),
                SqlServer.USER,
                SqlServer.PASSWORD,
                SqlFixture.common(Capability.PUSH, Capability.TELLS_WANTED, Capability.RESTART_SERVER));
    }

    /** The costs of calls that the manual names. */
    @Nested
    class Costs {
        @Test
        void areThoseOfTheManual() throws Exception {
            RoundTrips.assertDocumentedByUrl(database(), 1);
        }
    }

    /** It arrives in one statement, so its row is kept locked, which that statement waits for when it has begun. */
    @Override
    Gate arrival(TestClient client, String name) throws Exception {
        Connection connection = connect();
        connection.setAutoCommit(false);
        try (PreparedStatement lock =
                connection.prepareStatement("SELECT 1 FROM lockstep_locks WHERE name = ? FOR UPDATE")) {
            lock.setString(1, key(name));
            lock.execute();
        }
        return new Gate(client, sql -> false) {
            @Override
            void awaitReached() {
                await("it waits for the row", unused -> isBlocked(url(), "WITH queued"));
            }

            @Override
            void letGo() throws SQLException {
                connection.commit();
                connection.close();
            }
        };
    }

    /** Whether a statement that begins with a text waits for another transaction. */
    static boolean isBlocked(String url, String text) {
        try (Connection connection = DriverManager.getConnection(url);
                PreparedStatement statement = connection.prepareStatement(
                        "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE ?")) {
            statement.setString(1, text + '%');
            try (ResultSet rows = statement.executeQuery()) {
                return rows.next();
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
