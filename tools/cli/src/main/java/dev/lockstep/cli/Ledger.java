package dev.lockstep.cli;

import dev.lockstep.temp.SqliteLibrary;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * The data that the lock of a demo protects: a number in a database, and a journal of its changes. Reading and writing
 * are two steps, as in most shops. It remembers the highest token that it has seen, and refuses lower ones.
 *
 * <p>A SQLite file, so that processes share it; whichever engine the lock is on. For one thread at a time.
 */
final class Ledger implements AutoCloseable {
    private static final String BUSY_MILLIS = "60000";

    private final Connection connection;

    /** One line of the journal. The token is 0 if there was none. */
    record Entry(int task, int number, long token) {}

    private Ledger(Connection connection) {
        this.connection = connection;
    }

    static Ledger open(Path file) throws SQLException {
        String url = "jdbc:sqlite:" + file;
        SqliteLibrary.loadFor(url);
        Connection connection = DriverManager.getConnection(url);
        Ledger ledger = new Ledger(connection);
        ledger.execute("PRAGMA busy_timeout = " + BUSY_MILLIS);
        ledger.execute("PRAGMA journal_mode = WAL");
        ledger.execute("PRAGMA synchronous = OFF"); // it need not outlive the demo
        return ledger;
    }

    /** Starts again with a number. */
    void reset(int number) throws SQLException {
        execute("CREATE TABLE IF NOT EXISTS ledger (number INTEGER NOT NULL, token INTEGER NOT NULL)");
        execute("CREATE TABLE IF NOT EXISTS journal (line INTEGER PRIMARY KEY AUTOINCREMENT, task INTEGER NOT NULL,"
                + " number INTEGER NOT NULL, token INTEGER NOT NULL)");
        execute("DELETE FROM ledger");
        execute("DELETE FROM journal");
        execute("INSERT INTO ledger VALUES (" + number + ", 0)");
    }

    /**
     * Reads the number without presenting a token first, although an application should: here only the lock keeps
     * readers
     * apart, so that an engine that does not exclude them is noticed.
     */
    int read() throws SQLException {
        return queryInt("SELECT number FROM ledger").orElseThrow();
    }

    /** The number that a task has already written, if any: a task that was not answered is assigned again. */
    OptionalInt writtenBy(int task) throws SQLException {
        return queryInt("SELECT number FROM journal WHERE task = " + task);
    }

    /**
     * Writes a number and a line of the journal, both or none.
     *
     * @param token the lock's, or null to write without a check
     * @return false if a higher token has been seen: nothing is written
     */
    boolean write(int task, int number, @Nullable Long token) throws SQLException {
        connection.setAutoCommit(false);
        try {
            boolean written = update(number, token);
            if (written) {
                append(task, number, token == null ? 0 : token);
            }
            connection.commit();
            return written;
        } catch (SQLException e) {
            connection.rollback();
            throw e;
        } finally {
            connection.setAutoCommit(true);
        }
    }

    private boolean update(int number, @Nullable Long token) throws SQLException {
        String sql = token == null
                ? "UPDATE ledger SET number = ?"
                : "UPDATE ledger SET number = ?, token = ? WHERE token <= ?";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setInt(1, number);
            if (token != null) {
                statement.setLong(2, token);
                statement.setLong(3, token);
            }
            return statement.executeUpdate() > 0;
        }
    }

    private void append(int task, int number, long token) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement("INSERT INTO journal (task, number, token) VALUES (?, ?, ?)")) {
            statement.setInt(1, task);
            statement.setInt(2, number);
            statement.setLong(3, token);
            statement.executeUpdate();
        }
    }

    /** The journal, in the order in which it was written. */
    List<Entry> journal() throws SQLException {
        List<Entry> entries = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT task, number, token FROM journal ORDER BY line")) {
            while (rows.next()) {
                entries.add(new Entry(rows.getInt(1), rows.getInt(2), rows.getLong(3)));
            }
        }
        return entries;
    }

    private OptionalInt queryInt(String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            return rows.next() ? OptionalInt.of(rows.getInt(1)) : OptionalInt.empty();
        }
    }

    private void execute(String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    @Override
    public void close() throws SQLException {
        connection.close();
    }
}
