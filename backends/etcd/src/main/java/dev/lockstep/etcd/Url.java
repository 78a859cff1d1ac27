package dev.lockstep.etcd;

import dev.lockstep.LockConfigurationException;
import dev.lockstep.spi.SecretFile;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The address of a cluster and the login, parsed from a URL. Messages repeat no part of it that may be a password. */
final class Url {
    private static final Pattern URL = Pattern.compile(
            "(etcds?)://(?:(?<user>[^:@/?]+)(?::(?<password>[^@/?]+))?@)?(?<hosts>[^@/?]+)/?(?:\\?(?<options>.*))?");

    private static final Set<String> OPTIONS = Set.of("ca", "cert", "key", "passwordFile");

    private Url() {}

    static Settings parse(String url) {
        Matcher parts = URL.matcher(url);
        if (!parts.matches()) {
            throw malformed();
        }
        boolean tls = parts.group(1).equals("etcds");
        Map<String, String> options = options(parts.group("options"));
        String passwordFile = options.remove("passwordFile");
        boolean inUrl = parts.group("password") != null;
        if ((parts.group("user") != null) != (inUrl || passwordFile != null) || (inUrl && passwordFile != null)) {
            throw malformed("a user has a password, either after a colon or as passwordFile=FILE");
        }
        if (!tls && !options.isEmpty()) {
            throw malformed("ca, cert and key are for etcds://, which speaks TLS");
        }
        if (options.containsKey("cert") != options.containsKey("key")) {
            throw malformed("cert and key go together");
        }
        return new Settings(
                EtcdEngine.parse(List.of(parts.group("hosts").split(",", -1))),
                tls,
                path(options.get("ca")),
                path(options.get("cert")),
                path(options.get("key")),
                decode(parts.group("user")),
                password(decode(parts.group("password")), passwordFile));
    }

    private static @Nullable Supplier<String> password(@Nullable String inUrl, @Nullable String file) {
        if (file != null) {
            return SecretFile.of(file);
        }
        return inUrl == null ? null : () -> inUrl;
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
                throw malformed("the options are ca, cert, key and passwordFile (case-sensitive), each with a path");
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
                        + " ?ca=FILE&cert=FILE&key=FILE; user@ with"
                        + " passwordFile=FILE: " + why + ".");
    }
}
