package dev.lockstep.jdbc;

import dev.lockstep.LockConfigurationException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** The tables: checks them, creates them, and prints the statements for creating them by hand. */
final class Schema {
    /** The format of the tables that this client reads and writes, as the files have it. */
    static final int FORMAT = 1;

    private static final int ATTEMPTS = 5;

    private Schema() {}

    /** The statements that create the tables. */
    static String ddl(Dialect dialect, Settings settings) {
        String file = dialect.scheme() + ".sql";
        try (InputStream in = Schema.class.getResourceAsStream(file)) {
            if (in == null) {
                throw new IllegalStateException("missing in the jar: " + file);
            }
            String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            return text.replace("${index}", settings.tablePrefix()).replace("${prefix}", settings.tables());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<String> statements(String ddl) {
        List<String> statements = new ArrayList<>();
        for (String statement : ddl.replaceAll("--[^\n]*", "").split(";")) {
            if (!statement.isBlank()) {
                statements.add(statement.strip());
            }
        }
        return statements;
    }

    /** Makes sure that the tables are there, and of the right format. */
    static void ensure(Connections connections, Store store, Dialect dialect, Settings settings) throws SQLException {
        int format = 0;
        try {
            format = connections.call(store::format);
        } catch (SQLException e) {
            if (Failure.of(e, dialect) != Failure.WRONG) {
                throw e;
            }
            if (!settings.createsSchema(dialect)) {
                throw missing(dialect, settings, e);
            }
        }
        if (format == 0 && settings.createsSchema(dialect)) {
            format = create(connections, store, dialect, settings);
        }
        if (format != FORMAT) {
            throw otherFormat(format, settings);
        }
    }

    private static LockConfigurationException otherFormat(int format, Settings settings) {
        return new LockConfigurationException(
                null,
                "The tables " + settings.tables() + "* are of format " + format
                        + ", and this version of Lockstep needs format "
                        + FORMAT
                        + (format > FORMAT
                                ? ". Upgrade Lockstep in this application."
                                : ". Stop all processes that use the tables, and run the statements that upgrade them.")
                        + " See docs/stored-formats.md.");
    }

    /** Several clients may do so at the same time, and some databases let all but one of them fail. */
    private static int create(Connections connections, Store store, Dialect dialect, Settings settings)
            throws SQLException {
        for (int attempt = 1; ; attempt++) {
            try {
                for (String statement : statements(ddl(dialect, settings))) {
                    connections.call(link -> link.update(statement));
                }
                return connections.call(store::format);
            } catch (SQLException e) {
                if (attempt == ATTEMPTS) {
                    throw Failure.of(e, dialect)
                            .toException(
                                    null, connections.database().toString(), "The request to create the tables", e);
                }
            }
        }
    }

    private static LockConfigurationException missing(Dialect dialect, Settings settings, SQLException cause) {
        String jar = "unzip -p lockstep-jdbc.jar dev/lockstep/jdbc/" + dialect.scheme() + ".sql";
        return new LockConfigurationException(
                null,
                "The tables " + settings.tables() + "sessions, " + settings.tables() + "locks, "
                        + settings.tables() + "claims and " + settings.tables()
                        + "format are missing, or this user may not use them ('"
                        + cause.getMessage() + "'). To create them, connect once with lockstep.createSchema=true in"
                        + " the URL or JdbcEngine.createSchema(true), or run the statements of"
                        + " JdbcEngine.ddl(\"" + dialect.scheme() + "\"), which are in the jar: " + jar
                        + " | sed 's/${prefix}/" + settings.tables() + "/g; s/${index}/" + settings.tablePrefix()
                        + "/g'",
                cause);
    }
}
