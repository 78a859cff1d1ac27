package dev.lockstep.jdbc;

import dev.lockstep.spi.Scheduler;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.sql.Types;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A borrowed connection, for the statements of one request. Each answer to one that writes is contact with the database,
 * though the request continues, and so is a transaction that wrote and was committed; a read-only database does not
 * count. Used by one thread.
 */
final class Link {
    private static final int TIGHT_PERCENT = 110;

    private final Dialect dialect;
    private final Connection connection;
    private final Scheduler scheduler;
    private final long deadlineNanos;
    private final LongConsumer contact;
    private final boolean together;
    private int timeoutMillis;
    private boolean broken;
    private boolean inTransaction;

    /**
     * Makes it.
     *
     * @param together whether the connection takes several statements as one
     * @param contact is notified of the sending time of a request that was answered
     */
    Link(
            Dialect dialect,
            Connection connection,
            boolean together,
            Scheduler scheduler,
            long deadlineNanos,
            LongConsumer contact) {
        this.dialect = dialect;
        this.connection = connection;
        this.together = together;
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
            written(sent);
            return rows;
        }
    }

    /** A statement that writes, and answers with rows. */
    <T> T change(String sql, Reader<T> reader, @Nullable Object... arguments) throws SQLException {
        long sent = scheduler.nanoTime();
        T answer = query(sql, reader, arguments);
        written(sent);
        return answer;
    }

    /** An answer inside a transaction is no contact: until it commits, the database may refuse the rest. */
    private void written(long sent) {
        if (!inTransaction) {
            contact.accept(sent);
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

    /** The version of the database, as its driver reports it. */
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
            written(sent);
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

    /** Runs work in a transaction, which it begins and commits. A failure rolls it back. */
    <T> T transaction(Work<T> work) throws SQLException {
        int isolation = together || dialect.runsInCallerThread() ? 0 : connection.getTransactionIsolation();
        boolean done = false;
        inTransaction = true;
        try {
            T result = work.run(this);
            done = true;
            return result;
        } finally {
            end(done, isolation);
            inTransaction = false;
        }
    }

    /** The whole of a transaction that depends on nothing it reads. */
    void run(Batch batch) throws SQLException {
        if (together) {
            send(dialect.begin() + "; ", batch, "COMMIT");
            return;
        }
        begin(new Batch());
        commit(batch);
    }

    /** Begins a transaction that reads what is committed, statement by statement, and sends its first statements. */
    void begin(Batch batch) throws SQLException {
        if (together) {
            send(dialect.begin() + "; ", batch, "");
            return;
        }
        connection.setAutoCommit(false);
        awaitNoLonger();
        dialect.readCommitted(connection);
        sendEach(batch);
    }

    /** Sends the last statements of a transaction, and commits it. */
    void commit(Batch batch) throws SQLException {
        if (together) {
            send("", batch, "COMMIT");
            return;
        }
        sendEach(batch);
        awaitNoLonger();
        long sent = scheduler.nanoTime();
        connection.commit();
        committed(batch, sent);
    }

    private void committed(Batch batch, long sent) {
        if (!batch.calls().isEmpty()) {
            contact.accept(sent);
        }
    }

    private void sendEach(Batch batch) throws SQLException {
        for (Batch.Call<?> call : batch.calls()) {
            if (call.draws) {
                call.answered(draw(call.sql, call.arguments));
            } else if (call.reader == null) {
                call.answered(update(call.sql, call.arguments) > 0);
            } else {
                call.answered(query(call.sql, call.reader, call.arguments));
            }
        }
    }

    /** Sends statements as one, between others without answers that matter. */
    private void send(String before, Batch batch, String after) throws SQLException {
        StringBuilder text = new StringBuilder(before);
        List<@Nullable Object> arguments = new ArrayList<>();
        for (Batch.Call<?> call : batch.calls()) {
            text.append(call.sql).append("; ");
            if (call.draws && dialect.readDrawnBefore() != null) {
                text.append(dialect.readDrawnBefore()).append("; ");
            }
            arguments.addAll(Arrays.asList(call.arguments));
        }
        awaitNoLonger();
        try (PreparedStatement statement =
                connection.prepareStatement(text.append(after).toString())) {
            bind(statement, arguments.toArray());
            long sent = scheduler.nanoTime();
            boolean rows = statement.execute();
            if (!after.isEmpty()) {
                committed(batch, sent);
            }
            for (long skipped = before.chars().filter(c -> c == ';').count(); skipped > 0; skipped--) {
                rows = statement.getMoreResults();
            }
            for (Batch.Call<?> call : batch.calls()) {
                boolean drewNothing = false;
                if (call.draws && dialect.readDrawnBefore() != null) {
                    drewNothing = statement.getUpdateCount() == 0; // the value read then was drawn by another statement
                    rows = statement.getMoreResults();
                }
                if (call.reader == null && !call.draws) {
                    call.answered(statement.getUpdateCount() > 0);
                } else if (rows && !drewNothing) {
                    try (ResultSet found = statement.getResultSet()) {
                        call.read(found);
                    }
                }
                rows = statement.getMoreResults();
            }
        }
    }

    private void end(boolean done, int isolation) throws SQLException {
        try {
            if (together) {
                if (!done) {
                    update("ROLLBACK");
                }
                return;
            }
            if (!done) {
                connection.rollback();
            }
            connection.setAutoCommit(true);
            if (isolation != 0 && isolation != Connection.TRANSACTION_READ_COMMITTED) {
                connection.setTransactionIsolation(isolation);
            }
        } catch (SQLException e) {
            // The state of the connection is unknown, so nobody else gets it. Committed work stays committed, and the
            // earlier failure is the one to report.
            broken = true;
            connection.abort(Runnable::run);
        }
    }

    /** Whether a transaction could not be ended. */
    boolean isBroken() {
        return broken;
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

    /** Remembers the timeout of the connection; -1 if it supports none. */
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
