package dev.lockstep.redis.internal;

import dev.lockstep.LockConfigurationException;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.BackendFactory;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.SecretFile;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.ClientSetInfoConfig;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.DefaultRedisCredentials;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.providers.ClusterConnectionProvider;
import redis.clients.jedis.providers.PooledConnectionProvider;
import redis.clients.jedis.providers.SentineledConnectionProvider;

/**
 * The address of a Redis and the login, parsed from a URL. Messages repeat nothing of the URL except the names of
 * options, since any part may contain a password.
 */
public final class Url {
    public static final Set<String> SCHEMES =
            Set.of("redis", "rediss", "redis-sentinel", "rediss-sentinel", "redis-cluster", "rediss-cluster");
    public static final Set<String> REDLOCK_SCHEMES = Set.of("redlock", "redlocks");

    private static final Pattern URL =
            Pattern.compile("(rediss?(?:-\\w+)?|redlocks?)://(?:([^@]*)@)?([^/?#@]+)(/[^?#]*)?(?:\\?(.*))?");
    private static final Pattern SERVER = Pattern.compile("(\\[[0-9a-fA-F:.]+]|[^:\\[\\]\\s]+)(?::(\\d{1,5}))?");
    private static final Pattern TIME = Pattern.compile("(\\d{1,9})(ms|s)");
    private static final int POOL = 16;

    private final String kind;
    private final boolean tls;
    private final @Nullable String user;
    private final boolean withoutPassword;
    private final List<HostAndPort> servers;
    private final String sentinelName;
    private final int database;

    private Settings settings = Settings.DEFAULTS;
    private int pool = POOL;
    private @Nullable Tls trust;
    private @Nullable Supplier<String> password; // asked at each login

    public static Url parse(String url) {
        Matcher matcher = URL.matcher(url);
        if (!matcher.matches() || !isKnown(matcher.group(1))) {
            throw malformed("");
        }
        return new Url(matcher);
    }

    private static boolean isKnown(String scheme) {
        return SCHEMES.contains(scheme) || REDLOCK_SCHEMES.contains(scheme);
    }

    private Url(Matcher url) {
        String scheme = url.group(1);
        tls = scheme.startsWith("rediss") || scheme.equals("redlocks");
        String plain = scheme.startsWith("redlock") ? "redlock" : "single";
        kind = scheme.contains("-") ? scheme.substring(scheme.indexOf('-') + 1) : plain;
        String login = url.group(2);
        int colon = login == null ? -1 : login.indexOf(':');
        withoutPassword = login != null && (colon < 0 || colon == login.length() - 1);
        user = login == null || colon == 0 ? null : decode(colon < 0 ? login : login.substring(0, colon));
        if (login != null && !withoutPassword) {
            String inUrl = decode(login.substring(colon + 1));
            password = () -> inUrl;
        }
        servers = servers(url.group(3), kind.equals("sentinel") ? 26_379 : 6_379);
        List<String> path = path(url.group(4));
        if (kind.equals("sentinel")) {
            if (path.isEmpty()) {
                throw malformed("Sentinels need the name of the primary: redis-sentinel://host,host/NAME.");
            }
            sentinelName = decode(path.remove(0));
        } else {
            sentinelName = "";
        }
        database = path.isEmpty() ? 0 : number("database", path.remove(0), 0, 9_999);
        if (!path.isEmpty() || (kind.equals("cluster") && database != 0)) {
            throw malformed("The path has extra parts; only /database is allowed.");
        }
        if (kind.equals("single") && servers.size() > 1) {
            throw malformed("Several servers are a redis-sentinel://, a redis-cluster:// or a redlock://.");
        }
        if (isRedlock() && new LinkedHashSet<>(servers).size() < servers.size()) {
            throw malformed("A redlock:// names each server once: two votes of one server would fail together.");
        }
        if (url.group(5) != null) {
            Set<String> given = new HashSet<>();
            for (String option : url.group(5).split("&", -1)) {
                option(option, given);
            }
        }
        if (withoutPassword && password == null) {
            throw malformed("A user needs a password: user:password@ or :password@, or the option passwordFile.");
        }
    }

    private static List<HostAndPort> servers(String text, int defaultPort) {
        List<HostAndPort> found = new ArrayList<>();
        for (String part : text.split(",", -1)) {
            Matcher server = SERVER.matcher(part);
            if (!server.matches()) {
                throw malformed("A server is host or host:port.");
            }
            int port = server.group(2) == null ? defaultPort : number("port", server.group(2), 1, 65_535);
            found.add(new HostAndPort(server.group(1).replaceAll("[\\[\\]]", ""), port));
        }
        return found;
    }

    private static List<String> path(@Nullable String text) {
        List<String> parts = new ArrayList<>();
        if (text != null) {
            parts.addAll(List.of(text.substring(1).split("/", -1)));
        }
        parts.removeIf(String::isEmpty);
        return parts;
    }

    private void option(String option, Set<String> given) {
        int equals = option.indexOf('=');
        String name = equals < 0 ? option : option.substring(0, equals);
        if (name.isEmpty()) {
            throw malformed("An option has no name. If there are no options, remove the '?'.");
        }
        String value = equals < 0 ? "" : decode(option.substring(equals + 1));
        boolean known = !isRedlock() || !(name.equals("queue") || name.equals("replicas"));
        switch (known ? name : "") {
            case "queue" -> {
                if (!value.equals("on") && !value.equals("off")) {
                    throw malformed("The option queue is on or off.");
                }
                settings = settings.withQueue(value.equals("on"));
            }
            case "replicas" -> settings = settings.withReplicas(number(name, value, 0, 1_000));
            case "pool" -> pool = number(name, value, 2, 10_000);
            case "waiterExpiry" -> settings = settings.withWaiterExpiry(waiterExpiry(value));
            case "eviction" -> {
                if (!value.equals("accept") && !value.equals("refuse")) {
                    throw malformed("The option eviction is refuse or accept.");
                }
                settings = settings.withEviction(value.equals("accept"));
            }
            case "passwordFile" -> {
                if (password != null && !given.contains(name)) {
                    throw malformed("The password is in the URL or in passwordFile, not in both.");
                }
                password = SecretFile.of(value);
            }
            case "ca" -> {
                if (!tls) {
                    throw malformed("The option ca is for rediss:// and redlocks:// only.");
                }
                trust = Tls.trusting(value);
            }
            default ->
                throw malformed(
                        isRedlock()
                                ? "Options of redlock:// (case-sensitive) are waiterExpiry, pool, eviction, passwordFile and"
                                        + " ca."
                                : "Options (case-sensitive) are queue, replicas, waiterExpiry, pool, eviction, passwordFile"
                                        + " and ca.");
        }
        if (!given.add(name)) {
            throw malformed("The option " + name + " is given twice.");
        }
    }

    private static Duration waiterExpiry(String value) {
        Matcher time = TIME.matcher(value);
        if (!time.matches()) {
            throw malformed("The option waiterExpiry is a time as 5s or 2500ms.");
        }
        long number = Long.parseLong(time.group(1));
        Duration expiry = time.group(2).equals("s") ? Duration.ofSeconds(number) : Duration.ofMillis(number);
        if (expiry.compareTo(Settings.LEAST_WAITER_EXPIRY) < 0) {
            throw malformed("The option waiterExpiry is 500ms at least.");
        }
        return expiry;
    }

    private static int number(String name, String value, int least, int most) {
        try {
            int number = Integer.parseInt(value);
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Reported below, without the value.
        }
        throw malformed("The " + name + " is a number from " + least + " to " + most + ".");
    }

    private static String decode(String text) {
        try {
            return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw malformed("A % is written as %25.");
        }
    }

    private static LockConfigurationException malformed(String detail) {
        return new LockConfigurationException(
                null,
                "Not a URL of Redis. Expected redis://[user:password@]host[:port][/database][?options],"
                        + " redis-sentinel://host,host/primary, redis-cluster://host,host or redlock://host,host,host;"
                        + " rediss… and redlocks… for TLS. "
                        + detail);
    }

    public Settings settings() {
        return settings;
    }

    /** The servers, or the sentinels that know them. */
    private String address() {
        return servers.stream().map(HostAndPort::toString).collect(Collectors.joining(", "));
    }

    /** A factory that knows from this URL where it will connect. */
    public BackendFactory addressed(BackendFactory factory) {
        return new Addressed(factory, isRedlock() ? "redlock" : "redis", address());
    }

    private record Addressed(BackendFactory factory, String engine, String address) implements BackendFactory {
        @Override
        public LockBackend open(BackendContext context) {
            return factory.open(context);
        }
    }

    /** Whether it names several servers that know nothing of each other. */
    boolean isRedlock() {
        return kind.equals("redlock");
    }

    /** The way to each server, each with a Jedis client of its own. */
    public List<Function<BackendContext, Route>> routes() {
        List<Function<BackendContext, Route>> routes = new ArrayList<>();
        servers.forEach(
                server -> routes.add(context -> connect(server, config(context).build(), pools(context))));
        return routes;
    }

    private static Route connect(HostAndPort server, DefaultJedisClientConfig config, ConnectionPoolConfig pools) {
        PooledConnectionProvider single = new PooledConnectionProvider(server, config, pools);
        return PoolRoute.to(single.getPool(), server.toString(), single::close);
    }

    private ConnectionPoolConfig pools(BackendContext context) {
        ConnectionPoolConfig pools = new ConnectionPoolConfig();
        pools.setMaxTotal(pool + 1); // one is the subscription
        pools.setMaxIdle(pool + 1);
        pools.setMaxWait(context.requestTimeout());
        pools.setJmxEnabled(false);
        pools.setTestWhileIdle(false);
        pools.setTimeBetweenEvictionRuns(Duration.ofMillis(-1));
        return pools;
    }

    /** Makes the Jedis client, which belongs to the route. */
    public Route connect(BackendContext context) {
        DefaultJedisClientConfig config = config(context).build();
        ConnectionPoolConfig pools = pools(context);
        try {
            switch (kind) {
                case "sentinel" -> {
                    SentineledConnectionProvider sentinels = new SentineledConnectionProvider(
                            sentinelName, config, pools, new LinkedHashSet<>(servers), sentinelConfig(context));
                    return PoolRoute.to(sentinels, sentinels::close);
                }
                case "cluster" -> {
                    ClusterConnectionProvider cluster =
                            new ClusterConnectionProvider(new LinkedHashSet<>(servers), config, pools);
                    return new ClusterRoute(cluster, cluster::close);
                }
                default -> {
                    return connect(servers.get(0), config, pools);
                }
            }
        } catch (JedisException e) {
            Failure failure = Failure.notSent(servers.toString(), "no connection: " + e.getMessage(), e);
            throw failure.asLockstepException(null, "connect");
        }
    }

    private DefaultJedisClientConfig.Builder config(BackendContext context) {
        DefaultJedisClientConfig.Builder config = sentinelConfigBuilder(context).database(database);
        Supplier<String> secret = password;
        if (secret != null) {
            config.credentialsProvider(() -> new DefaultRedisCredentials(user, secret.get()));
        }
        return config;
    }

    private DefaultJedisClientConfig sentinelConfig(BackendContext context) {
        return sentinelConfigBuilder(context).build();
    }

    private DefaultJedisClientConfig.Builder sentinelConfigBuilder(BackendContext context) {
        int timeout = (int) Math.max(1, Math.min(context.requestTimeout().toMillis(), Integer.MAX_VALUE));
        DefaultJedisClientConfig.Builder config = DefaultJedisClientConfig.builder()
                .protocol(RedisProtocol.RESP2)
                .connectionTimeoutMillis(timeout)
                .socketTimeoutMillis(timeout)
                .clientSetInfoConfig(ClientSetInfoConfig.DISABLED);
        if (tls) {
            (trust == null ? Tls.usual() : trust).apply(config);
        }
        return config;
    }

    /** For people: the servers, without the user. */
    @Override
    public String toString() {
        return kind + " " + servers;
    }
}
