package dev.lockstep.spring.boot;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The application's Redis, as Spring Boot knows it, as a URL for Lockstep. What each version of Spring Boot has in types of its
 * own comes in here. Immutable.
 */
final class RedisSettings {
    private final Supplier<String> url;

    RedisSettings(Supplier<String> url) {
        this.url = url;
    }

    /** The URL of the same server or servers. */
    String url() {
        return url.get();
    }

    /**
     * How to log in, and what to log in to. All parts may contain any character.
     *
     * @param user the user, if there are several
     * @param password the password, if there is one
     * @param tls whether connections are encrypted
     */
    record Login(@Nullable String user, @Nullable String password, boolean tls) {
        String single(String server, int database) {
            return url("", List.of(server), "/" + database);
        }

        String sentinel(List<String> servers, String master, int database) {
            return url("-sentinel", servers, "/" + encode(master) + "/" + database);
        }

        String cluster(List<String> servers) {
            return url("-cluster", servers, "");
        }

        private String url(String kind, List<String> servers, String path) {
            String login = password == null || password.isEmpty()
                    ? ""
                    : (user == null ? "" : encode(user)) + ":" + encode(password) + "@";
            return (tls ? "rediss" : "redis") + kind + "://" + login + String.join(",", servers) + path;
        }
    }

    static NoEngineException unknown() {
        return new NoEngineException(
                "The application's Redis is neither a single server nor Sentinels nor a cluster. Set lockstep.url.");
    }

    static String server(String host, int port) {
        return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
    }

    private static String encode(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
