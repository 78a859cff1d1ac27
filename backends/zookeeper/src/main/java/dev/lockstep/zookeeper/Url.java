package dev.lockstep.zookeeper;

import dev.lockstep.LockConfigurationException;
import dev.lockstep.spi.SecretFile;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import org.apache.zookeeper.ZooDefs;
import org.jspecify.annotations.Nullable;

/** Parses {@code zookeeper://user:password@host:port,host:port/chroot?option=value}. No message repeats any of it. */
final class Url {
    private static final String START = "zookeeper://";
    private static final String PROPERTY = "zookeeper.";
    private static final String PASSWORD_FILE = "passwordFile=";

    private Url() {}

    static ZooKeeperEngine parse(String url) {
        if (!url.regionMatches(true, 0, START, 0, START.length())) {
            throw malformed();
        }
        String rest = url.substring(START.length());
        int question = rest.indexOf('?');
        String address = question < 0 ? rest : rest.substring(0, question);
        int at = address.lastIndexOf('@');
        ZooKeeperEngine engine = ZooKeeperEngine.at(address.substring(at + 1));
        String passwordFile = null;
        if (question >= 0) {
            Set<String> seen = new HashSet<>();
            for (String option : rest.substring(question + 1).split("&", -1)) {
                if (option.startsWith(PASSWORD_FILE) && seen.add("passwordFile")) {
                    passwordFile = decode(option.substring(PASSWORD_FILE.length()));
                } else {
                    engine = withOption(engine, option, seen);
                }
            }
        }
        return at < 0 && passwordFile == null
                ? engine
                : withUser(engine, address.substring(0, Math.max(0, at)), passwordFile);
    }

    private static ZooKeeperEngine withUser(ZooKeeperEngine engine, String user, @Nullable String passwordFile) {
        int colon = user.indexOf(':');
        if (passwordFile != null) {
            if (colon >= 0 || user.isEmpty()) {
                throw new LockConfigurationException(
                        null, "The URL's option passwordFile needs user@ without a password before the hosts.");
            }
            return engine.digest(decode(user), SecretFile.of(passwordFile));
        }
        if (colon <= 0) {
            throw malformed();
        }
        return engine.digest(decode(user.substring(0, colon)), decode(user.substring(colon + 1)));
    }

    private static ZooKeeperEngine withOption(ZooKeeperEngine engine, String option, Set<String> seen) {
        int equals = option.indexOf('=');
        if (equals <= 0) {
            throw malformed();
        }
        String key = option.substring(0, equals);
        String value = decode(option.substring(equals + 1));
        if (!seen.add(key)) { // one that is known: the first of them was accepted
            throw new LockConfigurationException(null, "The URL has the option " + key + " twice. Give it once.");
        }
        if (value.isEmpty()) {
            throw new LockConfigurationException(null, "The URL has an option without a value.");
        }
        return switch (key) {
            case "queue" -> isOn(key, value) ? engine : engine.withoutQueue();
            case "tls" -> isOn(key, value) ? engine.tls() : engine;
            case "sasl" -> engine.sasl(value);
            case "acl" ->
                switch (value) {
                    case "open" -> engine.acl(ZooDefs.Ids.OPEN_ACL_UNSAFE);
                    case "creator" -> engine.acl(ZooDefs.Ids.CREATOR_ALL_ACL);
                    default ->
                        throw new LockConfigurationException(null, "The URL's option acl must be open or creator.");
                };
            default -> {
                if (!key.startsWith(PROPERTY) || key.length() == PROPERTY.length()) {
                    throw new LockConfigurationException(
                            null,
                            "The URL has an unknown option. Known are queue, tls, sasl, acl, passwordFile and"
                                    + " zookeeper.SOMETHING.");
                }
                yield engine.setting(key, value);
            }
        };
    }

    private static boolean isOn(String key, String value) {
        if (!value.equals("on") && !value.equals("off")) {
            throw new LockConfigurationException(null, "The URL's option " + key + " must be on or off.");
        }
        return value.equals("on");
    }

    private static String decode(String text) {
        try {
            return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw malformed();
        }
    }

    private static LockConfigurationException malformed() {
        return new LockConfigurationException(
                null,
                "Not a URL of ZooKeeper. Expected zookeeper://host:port,host:port/chroot?option=value, optionally"
                        + " with a percent-encoded user:password@ before the hosts.");
    }
}
