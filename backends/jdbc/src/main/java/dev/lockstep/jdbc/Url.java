package dev.lockstep.jdbc;

import dev.lockstep.LockConfigurationException;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A JDBC URL without the settings that are Lockstep's, and those settings. */
record Url(String url, Settings settings) {
    /** As the drivers' own settings: after a question mark or an ampersand, or, for H2, a semicolon. */
    private static final Pattern OURS = Pattern.compile("([?&;])((?i:lockstep)\\.[^=&;]*)(=[^&;]*)?");

    private static final Pattern PARAMETER = Pattern.compile("[?&;]([^=&;?]+)=([^&;]*)");
    private static final Pattern EMPTY_QUERY = Pattern.compile("\\?(&|$)|&(&|$)");
    private static final Pattern PRIVATE = Pattern.compile("^(?i:jdbc:h2:mem:)(;|$)");
    private static final String PREFIX = "lockstep.";

    /** As any of the drivers takes a password: as a parameter, or between the user and the host. */
    private static final Pattern PASSWORD = Pattern.compile("[?&;,(]\\s*(?i:password)=|//[^/?;]*:[^,/?;@]*@");

    /** Hosts and ports as they usually are; what looks otherwise may hold a password. */
    private static final Pattern HOSTS =
            Pattern.compile("^jdbc:[a-z0-9:+-]+?//(?:[^/@?;]*@)?([\\w.:\\[\\],%-]+)(?:[/?;]|$)");

    static Url parse(String url, Settings defaults) {
        if (!Dialects.ofUrl(url).scheme().equals("h2")
                && EMPTY_QUERY.matcher(url).find()) {
            throw new LockConfigurationException(
                    null, "The URL has an empty parameter: what follows '?' or '&' is name=value.");
        }
        if (PRIVATE.matcher(url).find()) {
            throw new LockConfigurationException(
                    null,
                    "Each connection to an unnamed in-memory database opens its own database. Use jdbc:h2:mem:NAME.");
        }
        Settings settings = defaults;
        Set<String> seen = new HashSet<>();
        StringBuilder rest = new StringBuilder();
        Matcher matcher = OURS.matcher(url);
        int end = 0;
        boolean question = false;
        while (matcher.find()) {
            rest.append(url, end, matcher.start());
            question |= matcher.group(1).equals("?");
            settings = with(settings, matcher.group(2), matcher.group(3), seen);
            end = matcher.end();
        }
        rest.append(url, end, url.length());
        String left = rest.toString();
        if (question) {
            left = left.replaceFirst("&", "?"); // the first of those that are left is the first now
        }
        requireSingle(left);
        return new Url(left, settings);
    }

    /**
     * Drivers take the first or the last of two, so the result is unclear: {@code ?sslmode=require&sslmode=disable}.
     */
    private static void requireSingle(String url) {
        // H2 has settings after semicolons, and a semicolon in a value after a backslash.
        String separator = Dialects.ofUrl(url).scheme().equals("h2") ? "(?<!\\\\);" : "[?&]";
        String[] parts = url.split(separator, -1);
        Set<String> seen = new HashSet<>();
        for (int i = 1; i < parts.length; i++) {
            String name = parts[i].split("=", 2)[0];
            if (!name.isEmpty() && !seen.add(name.toLowerCase(Locale.ROOT))) {
                throw new LockConfigurationException(null, "The URL's parameter " + name + " is given twice.");
            }
        }
    }

    private static Settings with(Settings settings, String name, @Nullable String value, Set<String> seen) {
        if (!name.startsWith(PREFIX)) {
            throw wrong(name, "it begins with " + PREFIX + " in small letters");
        }
        if (value == null) {
            throw wrong(name, "it has no value");
        }
        if (!seen.add(name)) {
            throw wrong(name, "it is given twice");
        }
        try {
            return settings.with(name.substring(PREFIX.length()), value.substring(1));
        } catch (IllegalArgumentException e) {
            throw wrong(name, String.valueOf(e.getMessage()));
        }
    }

    private static LockConfigurationException wrong(String name, String why) {
        return new LockConfigurationException(null, "The URL's setting " + name + " is wrong: " + why + ".");
    }

    static boolean hasPassword(String url) {
        return PASSWORD.matcher(url).find();
    }

    /** The driver's parameters in a URL. */
    static Map<String, String> parameters(String url) {
        Map<String, String> parameters = new LinkedHashMap<>();
        Matcher matcher = PARAMETER.matcher(url);
        while (matcher.find()) {
            parameters.put(matcher.group(1), matcher.group(2));
        }
        return parameters;
    }

    /** The hosts and ports of a URL, without user and password; null if it has none, or they cannot be separated. */
    static @Nullable String hosts(@Nullable String url) {
        Matcher matcher = HOSTS.matcher(url == null ? "" : url);
        return matcher.find() ? matcher.group(1) : null;
    }
}
