package dev.lockstep.jdbc;

import dev.lockstep.spi.Durations;
import dev.lockstep.spi.SecretFile;
import java.time.Duration;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The settings besides the URL or the data source.
 *
 * @param tablePrefix the prefix of the table names
 * @param schema where the tables are; null for the connection's own
 * @param createSchema whether missing tables are made; null for the database's default
 * @param poolSize the most connections of the client's own pool
 * @param listen whether PostgreSQL may push
 * @param idleNames the time after which an unused name is removed
 * @param password supplies the password for each new connection of the client's own pool; null if the URL has it
 */
record Settings(
        String tablePrefix,
        @Nullable String schema,
        @Nullable Boolean createSchema,
        int poolSize,
        boolean listen,
        Duration idleNames,
        @Nullable Supplier<String> password) {
    private static final Pattern IDENTIFIER = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,39}");
    private static final int LARGEST_POOL = 1_000;
    private static final Duration LEAST_IDLE = Duration.ofDays(1);

    /** Last, since it is checked by the others. */
    static final Settings DEFAULTS = new Settings("lockstep_", null, null, 16, true, Duration.ofDays(2), null);

    Settings {
        requireIdentifier(tablePrefix, "tablePrefix");
        if (schema != null) {
            requireIdentifier(schema, "schema");
        }
        if (poolSize < 1 || poolSize > LARGEST_POOL) {
            throw new IllegalArgumentException("poolSize must be between 1 and " + LARGEST_POOL + ": " + poolSize);
        }
        if (idleNames.compareTo(LEAST_IDLE) < 0) {
            throw new IllegalArgumentException(
                    "idleNames must be at least one day, so that no clock can lower a token: " + idleNames);
        }
        idleNames = Durations.requireLimit(idleNames, "idleNames");
    }

    private static void requireIdentifier(String text, String what) {
        if (!IDENTIFIER.matcher(text).matches()) {
            throw new IllegalArgumentException(
                    what + " must be up to 40 letters, digits and underscores, and must not begin with a digit: '"
                            + text + "'");
        }
    }

    /** The text before {@code sessions}, {@code locks} and {@code claims}. */
    String tables() {
        return schema == null ? tablePrefix : schema + '.' + tablePrefix;
    }

    int poolSize(Dialect dialect) {
        return Math.min(poolSize, dialect.maxConnections());
    }

    boolean createsSchema(Dialect dialect) {
        return createSchema == null ? dialect.createsSchema() : createSchema;
    }

    Settings withTablePrefix(String value) {
        return new Settings(value, schema, createSchema, poolSize, listen, idleNames, password);
    }

    Settings withSchema(String value) {
        return new Settings(tablePrefix, value, createSchema, poolSize, listen, idleNames, password);
    }

    Settings withCreateSchema(boolean value) {
        return new Settings(tablePrefix, schema, value, poolSize, listen, idleNames, password);
    }

    Settings withPoolSize(int value) {
        return new Settings(tablePrefix, schema, createSchema, value, listen, idleNames, password);
    }

    Settings withListen(boolean value) {
        return new Settings(tablePrefix, schema, createSchema, poolSize, value, idleNames, password);
    }

    Settings withIdleNames(Duration value) {
        return new Settings(tablePrefix, schema, createSchema, poolSize, listen, value, password);
    }

    Settings withPassword(Supplier<String> value) {
        return new Settings(tablePrefix, schema, createSchema, poolSize, listen, idleNames, value);
    }

    /**
     * The same with one more setting, as a URL has it.
     *
     * @throws IllegalArgumentException if there is none of that name, or its value is wrong
     */
    Settings with(String name, String value) {
        return switch (name) {
            case "tablePrefix" -> withTablePrefix(value);
            case "schema" -> withSchema(value);
            case "createSchema" -> withCreateSchema(bool(value));
            case "poolSize" -> withPoolSize(number(value));
            case "listen" -> withListen(bool(value));
            case "passwordFile" -> withPassword(SecretFile.of(value));
            default ->
                throw new IllegalArgumentException(
                        "known are tablePrefix, schema, createSchema, poolSize, listen and passwordFile");
        };
    }

    private static int number(String value) {
        try {
            return Integer.parseInt(value);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("it is a number, not '" + value + "'", e);
        }
    }

    private static boolean bool(String value) {
        return switch (value) {
            case "true" -> true;
            case "false" -> false;
            default -> throw new IllegalArgumentException("it is true or false");
        };
    }
}
