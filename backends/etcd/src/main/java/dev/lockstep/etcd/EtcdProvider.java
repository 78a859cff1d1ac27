package dev.lockstep.etcd;

import dev.lockstep.LockConfigurationException;
import dev.lockstep.spi.BackendFactory;
import dev.lockstep.spi.BackendProvider;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Announces {@code etcd://[user:password@]host[:port][,host[:port]…]}, and {@code etcds://} with TLS, whose options are
 * {@code ca}, {@code cert} and {@code key}: paths of PEM files. What is special in a URL is percent-encoded.
 */
public final class EtcdProvider implements BackendProvider {
    private static final Pattern URL = Pattern.compile(
            "(etcds?)://(?:(?<user>[^:@/?]+):(?<password>[^@/?]+)@)?(?<hosts>[^@/?]+)/?(?:\\?(?<options>.*))?");

    private static final Set<String> OPTIONS = Set.of("ca", "cert", "key");

    /** Made by {@link java.util.ServiceLoader}. */
    public EtcdProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of("etcd", "etcds");
    }

    @Override
    public BackendFactory parse(String url) {
        Matcher parts = URL.matcher(url);
        if (!parts.matches()) {
            throw malformed();
        }
        boolean tls = parts.group(1).equals("etcds");
        Map<String, String> options = options(parts.group("options"));
        if (!tls && !options.isEmpty()) {
            throw malformed("ca, cert and key are for etcds://, which speaks TLS");
        }
        if (options.containsKey("cert") != options.containsKey("key")) {
            throw malformed("cert and key go together");
        }
        return new EtcdEngine(new EtcdSettings(
                EtcdEngine.parse(List.of(parts.group("hosts").split(",", -1))),
                tls,
                path(options.get("ca")),
                path(options.get("cert")),
                path(options.get("key")),
                decode(parts.group("user")),
                decode(parts.group("password"))));
    }

    private static Map<String, String> options(@Nullable String text) {
        Map<String, String> options = new HashMap<>();
        if (text == null) {
            return options;
        }
        for (String option : text.split("&", -1)) {
            int equals = option.indexOf('=');
            String name = equals < 0 ? option : option.substring(0, equals);
            // An unknown name is not repeated in the message: it may be a part of a password.
            if (equals < 0 || equals == option.length() - 1 || !OPTIONS.contains(name)) {
                throw malformed("the options are ca, cert and key, in small letters, each with a path");
            }
            if (options.put(name, decoded(option.substring(equals + 1))) != null) {
                throw malformed(name + " is given twice");
            }
        }
        return options;
    }

    private static @Nullable Path path(@Nullable String text) {
        try {
            return text == null ? null : Path.of(text);
        } catch (InvalidPathException e) {
            throw malformed("ca, cert and key are paths of files");
        }
    }

    private static @Nullable String decode(@Nullable String text) {
        return text == null ? null : decoded(text);
    }

    private static String decoded(String text) {
        try {
            // A plus sign is itself here: URLDecoder would make it a space.
            return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw malformed("a percent sign begins %XX, two hexadecimal digits");
        }
    }

    private static LockConfigurationException malformed() {
        return malformed("this URL is not of that form");
    }

    /** Without a cause and without the URL, which may have a password in it. */
    private static LockConfigurationException malformed(String why) {
        return new LockConfigurationException(
                null,
                "The URL of an etcd cluster is etcd://[user:password@]host[:port][,host[:port]...], or etcds:// with"
                        + " ?ca=FILE&cert=FILE&key=FILE: " + why + ".");
    }
}
