package dev.lockstep.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The differences between databases. Immutable. */
abstract class Dialect {
    static final String STANDBY_LIMIT =
            "A switch to a standby that has not seen the last commits forgets locks, and grants them twice.";

    /**
     * The result of an UPDATE or INSERT that drew a token.
     *
     * @param token the token
     * @param head the claim that waits first, or null if none does or the database does not say
     */
    record Drawn(long token, @Nullable String head) {}

    /** The name of the database as its driver reports it, which is also that of its file of table definitions. */
    abstract String product();

    /** The second part of its JDBC URLs. */
    abstract String scheme();

    /** The Maven coordinates of its driver, for a message that helps. */
    abstract String driver();

    /**
     * Refuses a database that only looks like this one.
     *
     * @throws dev.lockstep.LockConfigurationException if it does
     */
    void requireSupported(Link link) throws SQLException {}

    /** The time in microseconds since 1970, by the database's own clock, as an expression. */
    abstract String now();

    /** The next token of a row, as an expression: it rises, and keeps rising if rows are lost. */
    String nextToken() {
        return "GREATEST(token + 1, " + now() + ")";
    }

    /** Makes a statement that sets {@code token} return it. */
    String drawing(String update) {
        return update + " RETURNING token, head";
    }

    /** Makes an INSERT that sets {@code token} return it. An INSERT for an existing name does nothing, or fails. */
    String drawingInsert(String insert) {
        return drawing(insert + " ON CONFLICT DO NOTHING");
    }

    /** An expression for {@code token} in the sense of {@link #drawing}. */
    String drawn(String expression) {
        return expression;
    }

    PreparedStatement prepareDrawing(Connection connection, String sql) throws SQLException {
        return connection.prepareStatement(sql);
    }

    /** Carries out a statement made by {@link #drawing}; null if it changed no row. */
    @Nullable
    Drawn draw(PreparedStatement statement) throws SQLException {
        try (ResultSet rows = statement.executeQuery()) {
            return readDrawn(rows);
        }
    }

    static @Nullable Drawn readDrawn(ResultSet rows) throws SQLException {
        return rows.next() ? new Drawn(rows.getLong(1), rows.getString(2)) : null;
    }

    /** Reads the token that the statement before it has drawn, if that one cannot return it in a batch. */
    @Nullable
    String readDrawnBefore() {
        return null;
    }

    /**
     * Whether several statements can be sent as one, with semicolons in between.
     *
     * @param ownUrl the URL of the client's own pool, whose driver is set up for it; null over the application's data
     *     source, where that is not known
     */
    boolean sendsTogether(@Nullable String ownUrl) {
        return false;
    }

    /** The statements that begin a transaction which reads what others have committed, where they are sent together. */
    String begin() {
        return "BEGIN ISOLATION LEVEL READ COMMITTED";
    }

    /** Reads a lock's row and locks it for the rest of the transaction, in one statement. */
    String lockRow(String columns, String table) {
        return "SELECT " + columns + " FROM " + table + " WHERE name = ? FOR UPDATE";
    }

    /** Lets the transaction that begins read what others have committed, statement by statement. */
    void readCommitted(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET TRANSACTION ISOLATION LEVEL READ COMMITTED");
        }
    }

    /** The setting that lets a crash lose committed transactions, as an expression; null if there is none. */
    String forgetfulSetting() {
        return "NULL";
    }

    /** The numbers of errors. */
    ErrorCodes<Integer> codes() {
        return ErrorCodes.none();
    }

    /** The states of errors that mean something else, or more, than by the rules of SQL. */
    ErrorCodes<String> states() {
        return ErrorCodes.none();
    }

    /** The meaning of a failure that has a number or a state of this database; null if it has neither. */
    final @Nullable Failure knownFailure(int code, String state) {
        Failure byNumber = codes().meaning(code);
        return byNumber != null ? byNumber : states().meaning(state);
    }

    /** The meaning of a failed statement. */
    Failure failure(SQLException failure) {
        String state = Failure.stateOf(failure);
        Failure known = knownFailure(Failure.codeOf(failure), state);
        return known != null ? known : Failure.ofState(state);
    }

    /** Whether the server that answered is read-only. */
    boolean isReadOnly(SQLException failure) {
        return codes().readOnly().contains(Failure.codeOf(failure))
                || states().readOnly().contains(Failure.stateOf(failure));
    }

    /** Whether driver and server cannot agree on how to log in, which looks as if the server were away. */
    boolean cannotAgree(SQLException failure) {
        return false;
    }

    /** Whether the driver cannot use a part of the URL. */
    boolean isAboutArguments(SQLException failure) {
        return codes().argument().contains(Failure.codeOf(failure))
                || states().argument().contains(Failure.stateOf(failure));
    }

    /** The limits of locks on this database, whatever its settings. */
    abstract String limit();

    /** Whether a statement may run in the caller's thread, which may be interrupted, and ends in time by itself. */
    boolean runsInCallerThread() {
        return true;
    }

    /** Whether the tables are created by default. */
    boolean createsSchema() {
        return false;
    }

    /** The most connections that a client can use. */
    int maxConnections() {
        return Integer.MAX_VALUE;
    }

    /** Settings of the driver for the pool's own connections, unless the URL has them. */
    abstract Map<String, String> driverSettings(Duration requestTimeout);

    /** Makes one of the pool's own connections ready. */
    void prepare(Connection connection, Duration requestTimeout) throws SQLException {}

    static String millis(Duration duration) {
        return Long.toString(Math.max(1, duration.toMillis()));
    }
}
