package dev.lockstep.jdbc;

import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.LockstepException;
import java.sql.SQLException;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The meaning of a failed statement for its sender. */
enum Failure {
    /** It lost against another one and changed nothing: try again at once. */
    CONFLICT,
    /** No answer, or none that helps; whether it was carried out is unknown: try again after a while. */
    UNREACHABLE,
    /**
     * The database answers and writes nothing: a standby, full, or at a limit. Try again for a while: that may pass.
     */
    REFUSED,
    /** It will never work. */
    WRONG;

    private static final Pattern SECRETS =
            Pattern.compile("((?i:password)=)[^&;\\s'\"]*|(//[^/@:\\s]*:)[^/@\\s]+(?=@)");

    /** The JVM's words for a file of trusted certificates that has none. */
    private static final Pattern NO_CERTIFICATES = Pattern.compile("trustAnchors parameter must be non-empty");

    /**
     * The meaning of a failure.
     *
     * @param dialect the database; null if it is not known yet, and the failure is judged by the rules of all
     */
    static Failure of(SQLException failure, @Nullable Dialect dialect) {
        return dialect == null ? Dialects.failure(failure) : dialect.failure(failure);
    }

    /**
     * Whether this connection cannot be used any more, though others may be: it is broken, or its server is read-only,
     * such as a primary that has become a standby.
     */
    static boolean spoilsConnection(SQLException failure, Dialect dialect) {
        return of(failure, dialect) == UNREACHABLE || dialect.isReadOnly(failure);
    }

    /**
     * The meaning of a failure to connect. Drivers report that they cannot agree with the server on how to log in, by
     * password or by TLS, as if the server were away; and a server that is away because it has no process for a client
     * may look the same. A client that has connected before knows better.
     *
     * @param dialect the database; null if it is not known yet
     */
    static Failure ofConnecting(SQLException failure, @Nullable Dialect dialect) {
        Failure known = of(failure, dialect);
        boolean disagree = dialect == null ? Dialects.cannotAgree(failure) : dialect.cannotAgree(failure);
        return known == UNREACHABLE && disagree ? WRONG : known;
    }

    /** Whether a failure to connect is one of the driver, which cannot use a part of the URL. */
    static boolean isAboutArguments(SQLException failure, Dialect dialect) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof IllegalArgumentException || cause instanceof ClassNotFoundException) {
                return true;
            }
        }
        return matches(failure, NO_CERTIFICATES) || dialect.isAboutArguments(failure);
    }

    /** The meaning of a failure's state, by the rules of SQL. */
    static Failure ofState(String state) {
        if (state.startsWith("40")) {
            return CONFLICT;
        }
        boolean wrong = state.startsWith("42")
                || state.startsWith("28")
                || state.startsWith("3")
                || state.startsWith("22")
                || state.startsWith("0A");
        return wrong ? WRONG : UNREACHABLE;
    }

    /** Pools hide why they have no connection behind an exception of their own. */
    static String stateOf(SQLException failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLException sql && sql.getSQLState() != null) {
                return sql.getSQLState().toUpperCase(Locale.ROOT);
            }
        }
        return "";
    }

    /** Pools pass on the state, but not the number. */
    static int codeOf(SQLException failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLException sql && sql.getErrorCode() != 0) {
                return sql.getErrorCode();
            }
        }
        return 0;
    }

    /** The failure of a data source, which may throw any exception, or of its driver. */
    static SQLException asSqlException(Throwable e) {
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

    /** The messages of a failure and its causes, for a search; they may contain secrets. */
    static String messages(SQLException failure) {
        StringBuilder text = new StringBuilder();
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            text.append(cause.getMessage()).append('\n');
        }
        return text.toString();
    }

    static boolean matches(SQLException failure, Pattern text) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (text.matcher(String.valueOf(cause.getMessage())).find()) {
                return true;
            }
        }
        return false;
    }

    /**
     * The exception for the caller.
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
                                + "It rejects writes: it is read-only, a standby, its disk is full, or a limit is reached.",
                        failure);
            default ->
                new LockUnavailableException(
                        lockName, subject + answer + "Check that it runs and can be reached.", failure);
        };
    }
}
