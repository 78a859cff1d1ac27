package dev.lockstep.spring.boot;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.ssl.SslBundle;

/**
 * The application's Redis, as Spring Boot knows it, as a URL for Lockstep. Each version of Spring Boot has types of its
 * own, which are converted to {@link Redis} first. Immutable.
 */
final class RedisSettings {
    private final Supplier<Redis> redis;

    RedisSettings(Supplier<Redis> redis) {
        this.redis = redis;
    }

    /**
     * The URL of the same server or servers.
     *
     * @throws NoEngineException if a URL cannot say what the application's Redis needs
     */
    String url() {
        return redis.get().url();
    }

    /**
     * A server, sentinels or a cluster. All texts may contain any character.
     *
     * @param kind {@code single}, {@code sentinel} or {@code cluster}
     * @param servers host and port of each
     * @param login how to log in
     * @param ssl how connections are encrypted; null if they are not
     * @param path the database, and before it the name of the primary that sentinels watch
     */
    record Redis(
            String kind,
            List<String> servers,
            Login login,
            @Nullable SslBundle ssl,
            String path) {
        String url() {
            if (ssl != null && !isUsual(ssl)) {
                throw new NoEngineException(
                        "The application's Redis uses an SSL bundle (spring.data.redis.ssl.bundle), which"
                                + " a URL of Lockstep cannot name. Set lockstep.url=rediss" + suffix()
                                + "://…, with ?ca=FILE for a certificate authority of your own; or define a LockClient bean over a"
                                + " Jedis client that has the bundle: LockClient.builder().backend(RedisEngine.on(jedis)).");
            }
            return (ssl != null ? "rediss" : "redis") + suffix() + "://" + login.text() + String.join(",", servers)
                    + path;
        }

        private String suffix() {
            return kind.equals("single") ? "" : "-" + kind;
        }

        /** Whether it trusts what the JVM trusts, as {@code rediss://} does, and has no certificate of its own. */
        private static boolean isUsual(SslBundle bundle) {
            return bundle.getStores() == null
                    || (bundle.getStores().getTrustStore() == null
                            && bundle.getStores().getKeyStore() == null);
        }
    }

    /**
     * How to log in.
     *
     * @param user the user, if there are several
     * @param password the password, if there is one
     */
    record Login(@Nullable String user, @Nullable String password) {
        private boolean isEmpty() {
            return password == null || password.isEmpty();
        }

        private String text() {
            return password == null || isEmpty()
                    ? ""
                    : (user == null ? "" : encode(user)) + ":" + encode(password) + "@";
        }

        Redis single(String server, int database, @Nullable SslBundle ssl) {
            return new Redis("single", List.of(server), this, ssl, "/" + database);
        }

        Redis sentinel(List<String> servers, String primary, int database, Login ofSentinels, @Nullable SslBundle ssl) {
            if (!ofSentinels.isEmpty()) {
                throw new NoEngineException("The application's Sentinels have a password of their own"
                        + " (spring.data.redis.sentinel.password), which a URL of Lockstep cannot carry. Let Sentinels answer"
                        + " without a password; or define a LockClient bean over a Jedis client that logs in to them:"
                        + " LockClient.builder().backend(RedisEngine.on(jedis)).");
            }
            return new Redis("sentinel", servers, this, ssl, "/" + encode(primary) + "/" + database);
        }

        Redis cluster(List<String> servers, @Nullable SslBundle ssl) {
            return new Redis("cluster", servers, this, ssl, "");
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
