package dev.lockstep.jdbc;

import dev.lockstep.LockConfigurationException;
import java.sql.SQLException;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** The databases that are known. */
final class Dialects {
    private static final List<Dialect> ALL = List.of(
            new PostgresDialect(), new MySqlDialect(), new MariaDbDialect(), new H2Dialect(), new SqliteDialect());

    private Dialects() {}

    /** The dialect of a JDBC URL. The URL itself is never repeated: it may hold a password. */
    static Dialect ofUrl(String url) {
        String rest = url.regionMatches(true, 0, "jdbc:", 0, 5) ? url.substring(5) : "";
        int end = rest.indexOf(':');
        String scheme = (end < 0 ? rest : rest.substring(0, end)).toLowerCase(Locale.ROOT);
        for (Dialect dialect : ALL) {
            if (end >= 0 && dialect.scheme().equals(scheme)) {
                return dialect;
            }
        }
        String found = scheme.matches("[a-z0-9-]+") ? " ('" + scheme + "')" : "";
        throw new LockConfigurationException(
                null, "Lockstep does not support the database of this URL" + found + ". Expected " + expected());
    }

    /** The dialect of a database that is connected. */
    static Dialect ofProduct(String product) {
        for (Dialect dialect : ALL) {
            if (dialect.product().equalsIgnoreCase(product)) {
                return dialect;
            }
        }
        throw new LockConfigurationException(
                null, "The database '" + product + "' cannot keep locks. Use one of " + expected());
    }

    /** The meaning of a failure if the database is not known yet, by the rules of all. */
    static Failure failure(SQLException failure) {
        String state = Failure.stateOf(failure);
        int code = Failure.codeOf(failure);
        if (state.isEmpty() && code != 0) { // only SQLite does this
            return new SqliteDialect().failure(failure);
        }
        for (Dialect dialect : ALL) {
            Failure known = dialect instanceof SqliteDialect ? null : dialect.knownFailure(code, state);
            if (known != null) {
                return known;
            }
        }
        boolean ofDriver = state.startsWith("42") && code < 0; // as the numbers of MySQL's
        return ofDriver ? Failure.UNREACHABLE : Failure.ofState(state);
    }

    /** Whether a failure to connect is one of drivers that cannot agree with their server, by the rules of all. */
    static boolean cannotAgree(SQLException failure) {
        return ALL.stream().anyMatch(dialect -> dialect.cannotAgree(failure));
    }

    private static String expected() {
        return ALL.stream().map(dialect -> "jdbc:" + dialect.scheme() + ":").collect(Collectors.joining(", ", "", "."));
    }
}
