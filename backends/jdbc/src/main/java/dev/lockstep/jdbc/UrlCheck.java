package dev.lockstep.jdbc;

import dev.lockstep.LockConfigurationException;
import java.sql.Driver;
import java.sql.DriverPropertyInfo;
import java.sql.SQLException;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Finds out whether a failure to connect is the URL's fault. Drivers report a wrong parameter as they report a server that is
 * away, and some notice it only once they have reached the server.
 */
final class UrlCheck {
    private static final Pattern NUMBER = Pattern.compile("-?[0-9]+(\\.[0-9]+)?");
    private static final Set<String> SECRET = Set.of("user", "password");

    /** Of PostgreSQL's driver, whose choices for it are not all that it takes: a list of them. */
    private static final String LIST = "requireAuth";

    private final String url;
    private final Dialect dialect;
    private final @Nullable Driver driver;
    private final Map<String, String> parameters;

    UrlCheck(String url, Dialect dialect, @Nullable Driver driver) {
        this.url = url;
        this.dialect = dialect;
        this.driver = driver;
        this.parameters = Url.parameters(url);
    }

    /** The mistake in a URL that could not be connected; null if none is known. */
    @Nullable
    LockConfigurationException mistake(SQLException failure) {
        String parameter = notANumber();
        if (parameter == null) {
            parameter = notAChoice();
        }
        boolean argument = Failure.isAboutArguments(failure, dialect);
        if (parameter == null) {
            parameter = named(failure, argument);
        }
        if (parameter == null && !argument) {
            return null;
        }
        SQLException safe = Failure.withoutSecrets(failure);
        String where = parameter == null ? "The URL" : "The URL's parameter " + parameter;
        return new LockConfigurationException(
                null,
                where + " is wrong: the driver of " + dialect.product() + " answered '" + safe.getMessage()
                        + "'. Check its host, port and parameters.",
                safe);
    }

    /** A timeout is a number for every driver, and some of them ignore one that is not. */
    private @Nullable String notANumber() {
        for (Map.Entry<String, String> each : parameters.entrySet()) {
            if (each.getKey().toLowerCase(Locale.ROOT).endsWith("timeout")
                    && !NUMBER.matcher(each.getValue()).matches()) {
                return each.getKey();
            }
        }
        return null;
    }

    /** PostgreSQL's driver says what it takes, and complains of the rest only when it has reached a server. */
    private @Nullable String notAChoice() {
        if (driver == null || !(dialect instanceof PostgresDialect)) {
            return null;
        }
        try {
            for (DriverPropertyInfo info : driver.getPropertyInfo(url, new Properties())) {
                String value = parameters.get(info.name);
                if (value != null && info.choices != null && !info.name.equals(LIST) && !isOneOf(value, info.choices)) {
                    return info.name;
                }
            }
        } catch (SQLException | RuntimeException e) {
            return null;
        }
        return null;
    }

    private static boolean isOneOf(String value, String[] choices) {
        for (String choice : choices) {
            if (choice.equalsIgnoreCase(value)) {
                return true;
            }
        }
        return false;
    }

    /**
     * The parameter that a failure mentions by its name and its value; or by one of them, if it is known to be about an
     * argument.
     */
    private @Nullable String named(SQLException failure, boolean argument) {
        String text = Failure.messages(failure).toLowerCase(Locale.ROOT);
        String byValue = null;
        for (Map.Entry<String, String> each : parameters.entrySet()) {
            String name = each.getKey().toLowerCase(Locale.ROOT);
            if (SECRET.contains(name) || each.getValue().isEmpty()) {
                continue;
            }
            boolean hasName = hasWord(text, name);
            boolean hasValue = hasWord(text, each.getValue().toLowerCase(Locale.ROOT));
            if (hasName && (hasValue || argument)) {
                return each.getKey();
            }
            byValue = hasValue && byValue == null ? each.getKey() : byValue;
        }
        return argument ? byValue : null;
    }

    private static boolean hasWord(String text, String word) {
        return Pattern.compile("(?<!\\w)" + Pattern.quote(word) + "(?!\\w)")
                .matcher(text)
                .find();
    }
}
