package dev.lockstep.jdbc;

import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.LockstepException;
import java.sql.SQLException;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What a failed statement means for who sent it. */
enum Failure {
    /** It lost against another one and changed nothing: again, at once. */
    CONFLICT,
    /** No answer, or none that helps; whether it was carried out is unknown: again, after a while. */
    UNREACHABLE,
    /** The database answers and writes nothing: it is a standby, or full. Again for a while, since that may pass. */
    REFUSED,
    /** It will never work. */
    WRONG;

    private static final Pattern SECRETS =
            Pattern.compile("((?i:password)=)[^&;\\s'\"]*|(//[^/@:\\s]*:)[^/@\\s]+(?=@)");
    private static final Set<String> CONFLICTS = Set.of("41000", "26000", "42P05");
    private static final Set<Integer> SQLITE_CONFLICTS = Set.of(5, 6, 17); // busy, locked, tables changed meanwhile
    private static final Set<Integer> MYSQL_CONFLICTS = Set.of(1205, 1213, 1020);
    private static final Set<Integer> H2_CONFLICTS = Set.of(50200, 40001, 90131);
    private static final Set<Integer> MYSQL_REFUSALS = Set.of(1290, 1836, 1792, 1021, 1114, 3100);
    private static final Set<Integer> H2_REFUSALS = Set.of(90097);
    private static final Set<Integer> SQLITE_REFUSALS = Set.of(8, 13);
    private static final Set<Integer> MYSQL_AWAY = Set.of(1040, 1053, 1077, 1079, 1203, 1226, 1927, 2006, 2013);
    private static final Set<Integer> H2_WRONG = Set.of(90096, 28000);

    static Failure of(SQLException failure, Dialect dialect) {
        String state = stateOf(failure);
        int code = codeOf(failure);
        return switch (dialect.scheme()) {
            case "sqlite" -> ofSqlite(code & 0xff);
            case "h2" ->
                H2_CONFLICTS.contains(code)
                        ? CONFLICT
                        : H2_REFUSALS.contains(code) ? REFUSED : H2_WRONG.contains(code) ? WRONG : ofState(state);
            case "mysql", "mariadb" ->
                MYSQL_CONFLICTS.contains(code)
                        ? CONFLICT
                        : MYSQL_REFUSALS.contains(code)
                                ? REFUSED
                                : MYSQL_AWAY.contains(code) || isOfMySqlDriver(state, code)
                                        ? UNREACHABLE
                                        : ofState(state);
            default -> ofState(state);
        };
    }

    private static Failure ofSqlite(int code) {
        if (SQLITE_CONFLICTS.contains(code)) {
            return CONFLICT;
        }
        return SQLITE_REFUSALS.contains(code) ? REFUSED : code == 1 || code == 26 ? WRONG : UNREACHABLE;
    }

    /** Whether a driver says itself, without a number, what a server would say of a statement: of closed connections too. */
    private static boolean isOfMySqlDriver(String state, int code) {
        return state.startsWith("42") && code <= 0;
    }

    private static Failure ofState(String state) {
        if (state.startsWith("40") || CONFLICTS.contains(state)) {
            return CONFLICT;
        }
        if (state.equals("25006") || state.equals("53100")) {
            return REFUSED;
        }
        boolean wrong = state.startsWith("42")
                || state.startsWith("28")
                || state.startsWith("3")
                || state.startsWith("22")
                || state.startsWith("0A");
        return wrong ? WRONG : UNREACHABLE;
    }

    /** Pools hide why they have no connection behind an exception of their own. */
    private static String stateOf(SQLException failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLException sql && sql.getSQLState() != null) {
                return sql.getSQLState().toUpperCase(Locale.ROOT);
            }
        }
        return "";
    }

    /** Pools pass on the state, but not the number. */
    private static int codeOf(SQLException failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLException sql && sql.getErrorCode() != 0) {
                return sql.getErrorCode();
            }
        }
        return 0;
    }

    static boolean isDuplicate(SQLException failure) {
        return stateOf(failure).startsWith("23");
    }

    /** Some drivers repeat URLs, and with them passwords. An exception that does, or whose cause does, is replaced. */
    static SQLException withoutSecrets(SQLException failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (SECRETS.matcher(String.valueOf(cause.getMessage())).find()) {
                String safe =
                        SECRETS.matcher(String.valueOf(failure.getMessage())).replaceAll("$1$2***");
                return new SQLException(safe, stateOf(failure), codeOf(failure));
            }
        }
        return failure;
    }

    /** What the caller is told. */
    LockstepException toException(@Nullable String lockName, String tried, SQLException cause) {
        SQLException failure = withoutSecrets(cause);
        String subject = (lockName == null ? "" : "Lock '" + lockName + "': ") + tried + " failed: ";
        String answer = "the database answered '" + failure.getMessage() + "'. ";
        return switch (this) {
            case WRONG ->
                new LockConfigurationException(
                        lockName,
                        subject + answer + "Check user, password, rights (SELECT, INSERT, UPDATE, DELETE) and tables.",
                        failure);
            case REFUSED ->
                new LockUnavailableException(
                        lockName,
                        subject + answer + "It takes no writes: it is read-only, a standby, or its disk is full.",
                        failure);
            default ->
                new LockUnavailableException(
                        lockName, subject + answer + "Check that it runs and can be reached.", failure);
        };
    }
}
