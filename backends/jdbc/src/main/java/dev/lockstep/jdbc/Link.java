package dev.lockstep.jdbc;

import dev.lockstep.spi.Scheduler;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.sql.Types;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A borrowed connection, for the statements of one request. Each answer to one that writes is contact with the database,
 * though the request goes on; a database that only lets itself be read is of no use. Used by one thread.
 */
final class Link {
    private static final int TIGHT_PERCENT = 110;

    private final Dialect dialect;
    private final Connection connection;
    private final Scheduler scheduler;
    private final long deadlineNanos;
    private final LongConsumer contact;
    private int timeoutMillis;

    Link(Dialect dialect, Connection connection, Scheduler scheduler, long deadlineNanos, LongConsumer contact) {
        this.dialect = dialect;
        this.connection = connection;
        this.scheduler = scheduler;
        this.deadlineNanos = deadlineNanos;
        this.contact = contact;
    }

    /** Reads rows. */
    @FunctionalInterface
    interface Reader<T> {
        T read(ResultSet rows) throws SQLException;
    }

    /** Work in a transaction. */
    @FunctionalInterface
    interface Work<T> {
        T run(Link link) throws SQLException;
    }

    int update(String sql, @Nullable Object... arguments) throws SQLException {
        awaitNoLonger();
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            bind(statement, arguments);
            long sent = scheduler.nanoTime();
            int rows = statement.executeUpdate();
            contact.accept(sent);
            return rows;
        }
    }

    <T> T query(String sql, Reader<T> reader, @Nullable Object... arguments) throws SQLException {
        awaitNoLonger();
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            bind(statement, arguments);
            try (ResultSet rows = statement.executeQuery()) {
                return reader.read(rows);
            }
        }
    }

    /** The version of the database, as its driver tells it. */
    String version() throws SQLException {
        return connection.getMetaData().getDatabaseProductVersion();
    }

    /** A statement that draws a token; null if it changed no row. */
    Dialect.@Nullable Drawn draw(String sql, @Nullable Object... arguments) throws SQLException {
        awaitNoLonger();
        try (PreparedStatement statement = dialect.prepareDrawing(connection, sql)) {
            bind(statement, arguments);
            long sent = scheduler.nanoTime();
            Dialect.Drawn drawn = dialect.draw(statement);
            contact.accept(sent);
            return drawn;
        }
    }

    private static void bind(PreparedStatement statement, @Nullable Object[] arguments) throws SQLException {
        for (int i = 0; i < arguments.length; i++) {
            Object argument = arguments[i];
            if (argument instanceof String text) {
                statement.setString(i + 1, text);
            } else if (argument instanceof Long number) {
                statement.setLong(i + 1, number);
            } else if (argument instanceof Integer number) {
                statement.setInt(i + 1, number);
            } else {
                statement.setNull(i + 1, Types.VARCHAR);
            }
        }
    }

    /** Runs work in a transaction that reads what is committed, statement by statement. */
    <T> T transaction(Work<T> work) throws SQLException {
        int isolation = dialect.worksInline() ? 0 : connection.getTransactionIsolation();
        connection.setAutoCommit(false);
        boolean done = false;
        try {
            awaitNoLonger();
            dialect.readCommitted(connection);
            T result = work.run(this);
            awaitNoLonger();
            connection.commit();
            done = true;
            return result;
        } finally {
            end(done, isolation);
        }
    }

    private void end(boolean done, int isolation) throws SQLException {
        try {
            if (!done) {
                connection.rollback();
            }
            connection.setAutoCommit(true);
            if (isolation != 0 && isolation != Connection.TRANSACTION_READ_COMMITTED) {
                connection.setTransactionIsolation(isolation);
            }
        } catch (SQLException e) {
            // Nobody knows in which state it is, so nobody else gets it. What was committed is committed, and what went
            // wrong before is what matters.
            connection.abort(Runnable::run);
        }
    }

    /** Lets the next statement take no longer than what is left of the request's time. */
    private void awaitNoLonger() throws SQLException {
        long left = (deadlineNanos - scheduler.nanoTime()) / 1_000_000;
        if (left <= 0) {
            throw new SQLTimeoutException("The request took too long.", "08000");
        }
        if (timeoutMillis >= 0 && (timeoutMillis == 0 || timeoutMillis > left * TIGHT_PERCENT / 100)) {
            setTimeout((int) Math.min(left, Integer.MAX_VALUE));
        }
    }

    /** Takes note of the timeout that the connection has; -1 if it can have none. */
    int readTimeout() {
        try {
            timeoutMillis = connection.getNetworkTimeout();
        } catch (SQLException | RuntimeException | AbstractMethodError e) {
            timeoutMillis = -1;
        }
        return timeoutMillis;
    }

    void setTimeout(int millis) {
        if (millis == timeoutMillis) {
            return;
        }
        try {
            connection.setNetworkTimeout(Runnable::run, millis);
            timeoutMillis = millis;
        } catch (SQLException | RuntimeException | AbstractMethodError e) {
            timeoutMillis = -1;
        }
    }
}
