package dev.lockstep.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** MySQL, and the parts that MariaDB shares with it. */
class MySqlDialect extends Dialect {
    private static final String MULTI = "allowMultiQueries";
    private static final ErrorCodes<Integer> CODES = new ErrorCodes<>(
            Set.of(1205, 1213, 1020),
            Set.of(1290, 1836, 1792, 1021, 1114, 1226, 1461, 3100),
            Set.of(1290, 1792, 1836),
            Set.of(1040, 1053, 1077, 1079, 1203, 1927, 2006, 2013),
            Set.of(1130, 1251, 1820, 1862, 3118, 3159, 4151),
            Set.of());

    /** A deadlock; read-only; of its driver, a wrong value in the URL. */
    private static final ErrorCodes<String> STATES = new ErrorCodes<>(
            Set.of("41000"), Set.of("25006"), Set.of("25006"), Set.of(), Set.of(), Set.of("S1009", "01S00", "07006"));

    /** Of the drivers of MariaDB and MySQL, which have no number for it. */
    private static final Pattern NO_TLS =
            Pattern.compile("ssl not enabled in the server|SSL Connection required, but not provided");

    /** Of MySQL's driver: a file of certificates that cannot be used. */
    private static final Pattern NO_STORE = Pattern.compile("^Cannot open [a-z]+:");

    @Override
    String product() {
        return "MySQL";
    }

    @Override
    String scheme() {
        return "mysql";
    }

    @Override
    String driver() {
        return "com.mysql:mysql-connector-j";
    }

    /** In UTC: local time has an hour twice when summer time ends. */
    @Override
    final String now() {
        return "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))";
    }

    /** The answer to a statement has room for one number: that which LAST_INSERT_ID was given. */
    @Override
    final String drawn(String expression) {
        return "LAST_INSERT_ID(" + expression + ")";
    }

    @Override
    final String drawing(String update) {
        return update;
    }

    /** Plain, and fails if the name is there: the other ways lock more than the row. */
    @Override
    final String drawingInsert(String insert) {
        return insert;
    }

    @Override
    final PreparedStatement prepareDrawing(Connection connection, String sql) throws SQLException {
        return connection.prepareStatement(sql, Statement.RETURN_GENERATED_KEYS);
    }

    @Override
    final @Nullable Drawn draw(PreparedStatement statement) throws SQLException {
        if (statement.executeUpdate() == 0) {
            return null;
        }
        try (ResultSet keys = statement.getGeneratedKeys()) {
            if (!keys.next()) {
                throw new SQLException("The driver does not return LAST_INSERT_ID.", "0A000");
            }
            return new Drawn(keys.getLong(1), null);
        }
    }

    @Override
    final String readDrawnBefore() {
        return "SELECT LAST_INSERT_ID(), NULL";
    }

    /** Only without server-side prepared statements, which cannot be sent together. */
    @Override
    final boolean sendsTogether(@Nullable String ownUrl) {
        if (ownUrl == null) {
            return false;
        }
        String lower = ownUrl.toLowerCase(Locale.ROOT);
        return !lower.contains(MULTI.toLowerCase(Locale.ROOT) + "=") && !lower.contains("useserverprepstmts=");
    }

    @Override
    final String begin() {
        return "SET TRANSACTION ISOLATION LEVEL READ COMMITTED; START TRANSACTION";
    }

    @Override
    final ErrorCodes<Integer> codes() {
        return CODES;
    }

    @Override
    final ErrorCodes<String> states() {
        return STATES;
    }

    /** A state 42 without a number comes from the driver itself, which uses it for closed connections, too. */
    @Override
    final Failure failure(SQLException failure) {
        boolean ofDriver = Failure.stateOf(failure).startsWith("42") && Failure.codeOf(failure) <= 0;
        return ofDriver ? Failure.UNREACHABLE : super.failure(failure);
    }

    @Override
    final boolean cannotAgree(SQLException failure) {
        return Failure.matches(failure, NO_TLS);
    }

    @Override
    boolean isAboutArguments(SQLException failure) {
        return Failure.matches(failure, NO_STORE) || super.isAboutArguments(failure);
    }

    @Override
    final String forgetfulSetting() {
        return "CASE WHEN @@innodb_flush_log_at_trx_commit <> 1 THEN"
                + " CONCAT('innodb_flush_log_at_trx_commit = ', @@innodb_flush_log_at_trx_commit) END";
    }

    @Override
    final String limit() {
        return STANDBY_LIMIT;
    }

    @Override
    Map<String, String> driverSettings(Duration requestTimeout) {
        String millis = millis(requestTimeout);
        return Map.of("connectTimeout", millis, "socketTimeout", millis, "tcpKeepAlive", "true", MULTI, "true");
    }
}
