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
    /** The database answers and writes nothing: a standby, full, or at a limit. Again for a while: that may pass. */
    REFUSED,
    /** It will never work. */
    WRONG;

    private static final Pattern SECRETS =
            Pattern.compile("((?i:password)=)[^&;\\s'\"]*|(//[^/@:\\s]*:)[^/@\\s]+(?=@)");
    /** Of the drivers of MariaDB and MySQL, which have no number for it. */
    private static final Pattern NO_TLS =
            Pattern.compile("ssl not enabled in the server|SSL Connection required, but not provided");

    private static final Set<String> CONFLICTS = Set.of("41000", "26000", "42P05");
    private static final Set<Integer> SQLITE_CONFLICTS = Set.of(5, 6, 17); // busy, locked, tables changed meanwhile
    private static final int SQLITE_READ_ONLY = 8;
    private static final Set<Integer> SQLITE_REFUSALS = Set.of(SQLITE_READ_ONLY, 13);

    // Of MySQL, MariaDB and H2. The numbers of one mean nothing to the others, and PostgreSQL has none.
    private static final Set<Integer> CONFLICT_NUMBERS = Set.of(1205, 1213, 1020, 50200, 40001, 90131);
    private static final Set<Integer> REFUSAL_NUMBERS = Set.of(1290, 1836, 1792, 1021, 1114, 1226, 1461, 3100, 90097);
    private static final Set<Integer> READ_ONLY_NUMBERS = Set.of(1290, 1792, 1836, 90097);
    private static final Set<Integer> AWAY_NUMBERS = Set.of(1040, 1053, 1077, 1079, 1203, 1927, 2006, 2013);
    private static final Set<Integer> WRONG_NUMBERS =
            Set.of(1130, 1251, 1820, 1862, 3118, 3159, 4151, 28000, 90013, 90046, 90049, 90096, 90117, 90146, 90149);

    /** Of drivers that cannot use what a URL says: of MySQL by its state, of H2 by its number, of MariaDB by its words. */
    private static final Set<String> ARGUMENT_STATES = Set.of("S1009", "01S00", "07006", "22023");

    private static final Set<Integer> ARGUMENT_NUMBERS = Set.of(90011, 90050, 90088, 90113);
    private static final Pattern ARGUMENT_WORDS = Pattern.compile("error parsing url|Incorrect port value");

    /**
     * What a failure means.
     *
     * @param dialect the database; null if it is not known yet, and the failure is judged by the rules of all
     */
    static Failure of(SQLException failure, @Nullable Dialect dialect) {
        String state = stateOf(failure);
        int code = codeOf(failure);
        // SQLite alone has numbers without states.
        if (dialect instanceof SqliteDialect || (dialect == null && state.isEmpty() && code != 0)) {
            return ofSqlite(code & 0xff);
        }
        if (CONFLICT_NUMBERS.contains(code)) {
            return CONFLICT;
        }
        if (REFUSAL_NUMBERS.contains(code)) {
            return REFUSED;
        }
        if (AWAY_NUMBERS.contains(code) || isOfMySqlDriver(state, code, dialect)) {
            return UNREACHABLE;
        }
        return WRONG_NUMBERS.contains(code) ? WRONG : ofState(state);
    }

    /**
     * Whether the connection is of no use any more, though others may be: it is broken, or its server only lets itself be
     * read, as a primary that has become a standby.
     */
    static boolean spoilsConnection(SQLException failure, Dialect dialect) {
        if (of(failure, dialect) == UNREACHABLE) {
            return true;
        }
        return dialect instanceof SqliteDialect
                ? (codeOf(failure) & 0xff) == SQLITE_READ_ONLY
                : READ_ONLY_NUMBERS.contains(codeOf(failure))
                        || stateOf(failure).equals("25006");
    }

    /**
     * What a failure to connect means. That driver and server cannot agree on how to log in, by password or by TLS, is told
     * as if the server were away; and a server that is, and has no process for a client, may look so. Who has connected
     * before knows better.
     *
     * @param dialect the database; null if it is not known yet
     */
    static Failure ofConnecting(SQLException failure, @Nullable Dialect dialect) {
        Failure known = of(failure, dialect);
        boolean disagree = isOfPostgresDriver(failure, dialect) || matches(failure, NO_TLS);
        return known == UNREACHABLE && disagree ? WRONG : known;
    }

    /** Whether a failure to connect is one of the driver, which cannot use a part of the URL. */
    static boolean isAboutArguments(SQLException failure, Dialect dialect) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof IllegalArgumentException || cause instanceof ClassNotFoundException) {
                return true;
            }
        }
        return ARGUMENT_STATES.contains(stateOf(failure))
                || ARGUMENT_NUMBERS.contains(codeOf(failure))
                || (dialect instanceof MariaDbDialect && matches(failure, ARGUMENT_WORDS));
    }

    private static Failure ofSqlite(int code) {
        if (SQLITE_CONFLICTS.contains(code)) {
            return CONFLICT;
        }
        return SQLITE_REFUSALS.contains(code) ? REFUSED : code == 1 || code == 26 ? WRONG : UNREACHABLE;
    }

    /** Whether a driver says itself, without a number, what a server would say of a statement: of closed connections too. */
    private static boolean isOfMySqlDriver(String state, int code, @Nullable Dialect dialect) {
        return state.startsWith("42") && (code < 0 || (code == 0 && dialect instanceof MySqlDialect));
    }

    private static boolean isOfPostgresDriver(SQLException failure, @Nullable Dialect dialect) {
        return stateOf(failure).equals("08004")
                && codeOf(failure) == 0
                && (dialect == null || dialect instanceof PostgresDialect);
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

    /** What a data source, which may throw what it likes, or its driver failed with. */
    static SQLException asSqlException(Exception e) {
        if (e instanceof SQLException direct) {
            return direct;
        }
        return e.getCause() instanceof SQLException cause ? cause : new SQLException(e.toString(), "08001", e);
    }

    static boolean isDuplicate(SQLException failure) {
        return stateOf(failure).startsWith("23");
    }

    /** Some drivers repeat URLs, and with them passwords. An exception that does, or whose cause does, is replaced. */
    static SQLException withoutSecrets(SQLException failure) {
        if (!matches(failure, SECRETS)) {
            return failure;
        }
        String safe = SECRETS.matcher(String.valueOf(failure.getMessage())).replaceAll("$1$2***");
        return new SQLException(safe, stateOf(failure), codeOf(failure));
    }

    /** What a failure and its causes say, for a search; it may hold secrets. */
    static String messages(SQLException failure) {
        StringBuilder text = new StringBuilder();
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            text.append(cause.getMessage()).append('\n');
        }
        return text.toString();
    }

    private static boolean matches(SQLException failure, Pattern text) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (text.matcher(String.valueOf(cause.getMessage())).find()) {
                return true;
            }
        }
        return false;
    }

    /**
     * What the caller is told.
     *
     * @param place the database and its hosts, without user and password
     */
    LockstepException toException(@Nullable String lockName, String place, String tried, SQLException cause) {
        SQLException failure = withoutSecrets(cause);
        String subject = (lockName == null ? "" : "Lock '" + lockName + "': ") + tried + " failed: ";
        String answer = place + " answered '" + failure.getMessage() + "'. ";
        return switch (this) {
            case WRONG ->
                new LockConfigurationException(
                        lockName,
                        subject + answer + "Check user, password, rights (SELECT, INSERT, UPDATE, DELETE) and tables.",
                        failure);
            case REFUSED ->
                new LockUnavailableException(
                        lockName,
                        subject + answer
                                + "It takes no writes: it is read-only, a standby, its disk is full, or a limit is reached.",
                        failure);
            default ->
                new LockUnavailableException(
                        lockName, subject + answer + "Check that it runs and can be reached.", failure);
        };
    }
}
