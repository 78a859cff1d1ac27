package dev.lockstep.spring.boot;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The application's Redis, as Spring Boot knows it, for Lockstep. */
@FunctionalInterface
interface RedisSettings {
    /** The URL of the same server or servers. */
    String url();

    /** Builds a URL, whose parts may contain any character. */
    static String url(
            String kind,
            boolean tls,
            @Nullable String user,
            @Nullable String password,
            List<String> servers,
            String path) {
        String login = password == null || password.isEmpty()
                ? ""
                : (user == null ? "" : encode(user)) + ":" + encode(password) + "@";
        return (tls ? "rediss" : "redis") + kind + "://" + login + String.join(",", servers) + path;
    }

    static String server(String host, int port) {
        return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
    }

    static String encode(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
