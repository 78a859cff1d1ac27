package dev.lockstep.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.Set;

/**
 * SQLite: a file, for processes of one machine. One writer at a time in the whole file; the others wait for it, for the
 * request timeout at most (busy_timeout). A transaction begins with a write, so that it waits for its turn there and then;
 * one that began with a read would be refused when it wanted to write later, since what it had read might be old.
 */
final class SqliteDialect extends Dialect {
    /** Busy, locked, tables changed meanwhile; read-only, full; an error in the statement, not a database. */
    private static final ErrorCodes<Integer> CODES =
            new ErrorCodes<>(Set.of(5, 6, 17), Set.of(8, 13), Set.of(8), Set.of(), Set.of(1, 26), Set.of());

    @Override
    String product() {
        return "SQLite";
    }

    @Override
    String scheme() {
        return "sqlite";
    }

    @Override
    String driver() {
        return "org.xerial:sqlite-jdbc";
    }

    @Override
    String now() {
        return "CAST(unixepoch('now', 'subsec') * 1000000 AS INTEGER)";
    }

    @Override
    String nextToken() {
        return "MAX(token + 1, " + now() + ")";
    }

    @Override
    String lockRow(String columns, String table) {
        return "UPDATE " + table + " SET tickets = tickets WHERE name = ? RETURNING " + columns;
    }

    @Override
    void readCommitted(Connection connection) {
        // No other transaction can commit until this one has ended.
    }

    @Override
    ErrorCodes<Integer> codes() {
        return CODES;
    }

    /** Its driver has numbers without states, with details above the lowest eight bits. */
    @Override
    Failure failure(SQLException failure) {
        Failure known = CODES.meaning(Failure.codeOf(failure) & 0xff);
        return known != null ? known : Failure.UNREACHABLE;
    }

    @Override
    boolean isReadOnly(SQLException failure) {
        return CODES.readOnly().contains(Failure.codeOf(failure) & 0xff);
    }

    @Override
    String limit() {
        return "For processes of one machine, with the file on a local disk; the clock is the machine's.";
    }

    @Override
    boolean createsSchema() {
        return true;
    }

    /** More would only wait for each other. */
    @Override
    int maxConnections() {
        return 1;
    }

    @Override
    Map<String, String> driverSettings(Duration requestTimeout) {
        return Map.of("busy_timeout", millis(requestTimeout));
    }

    /** With a write-ahead log a commit does not wait for the disk: a power failure ends all holders as well. */
    @Override
    void prepare(Connection connection, Duration requestTimeout) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("PRAGMA journal_mode = WAL");
            statement.execute("PRAGMA synchronous = NORMAL");
        }
    }
}
