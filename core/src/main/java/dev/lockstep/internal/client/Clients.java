package dev.lockstep.internal.client;

import dev.lockstep.DeadlockPolicy;
import dev.lockstep.Fallback;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockListener;
import dev.lockstep.LockObserver;
import dev.lockstep.internal.fallback.FallbackPlan;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.BackendFactory;
import dev.lockstep.spi.BackendProvider;
import dev.lockstep.spi.Backoff;
import dev.lockstep.spi.Scheduler;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.Executor;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Makes clients: checks what the builder was given, finds the engine, and connects. */
public final class Clients {
    private static final Pattern SCHEME = Pattern.compile("([A-Za-z][A-Za-z0-9+.-]*):.*", Pattern.DOTALL);

    /** The schemes of the engines that this project publishes, for a message that helps. */
    private static final Map<String, String> ARTIFACTS = Map.ofEntries(
            Map.entry("redis", "lockstep-redis"),
            Map.entry("rediss", "lockstep-redis"),
            Map.entry("redis-sentinel", "lockstep-redis"),
            Map.entry("rediss-sentinel", "lockstep-redis"),
            Map.entry("redis-cluster", "lockstep-redis"),
            Map.entry("rediss-cluster", "lockstep-redis"),
            Map.entry("redlock", "lockstep-redis"),
            Map.entry("redlocks", "lockstep-redis"),
            Map.entry("zookeeper", "lockstep-zookeeper"),
            Map.entry("etcd", "lockstep-etcd"),
            Map.entry("etcds", "lockstep-etcd"),
            Map.entry("jdbc", "lockstep-jdbc"));

    private Clients() {}

    /**
     * The settings that the builder collected.
     *
     * @param clientName null for host and process id
     * @param executor null for threads of the client's own
     * @param lazyConnect whether the client connects in the background
     */
    public record Settings(
            String namespace,
            Duration ttl,
            Duration requestTimeout,
            Duration minBackoff,
            Duration maxBackoff,
            @Nullable String clientName,
            @Nullable Executor executor,
            List<LockListener> listeners,
            List<LockObserver> observers,
            boolean lazyConnect,
            Care care) {
        public Settings(
                String namespace,
                Duration ttl,
                Duration requestTimeout,
                Duration minBackoff,
                Duration maxBackoff,
                @Nullable String clientName,
                @Nullable Executor executor,
                List<LockListener> listeners) {
            this(
                    namespace,
                    ttl,
                    requestTimeout,
                    minBackoff,
                    maxBackoff,
                    clientName,
                    executor,
                    listeners,
                    List.of(),
                    false,
                    Care.DEFAULT);
        }

        Backoff backoff() {
            return new Backoff(minBackoff, maxBackoff);
        }

        /** The settings that the backend needs to know, and facts about its client. */
        BackendContext forBackend(String name, String clientId, Executor ofClient, Scheduler scheduler) {
            return BackendContext.of(namespace, name, clientId, ttl, requestTimeout, backoff(), ofClient, scheduler);
        }
    }

    /**
     * A client's behaviour for calls and holds that have problems.
     *
     * @param timedCallsFailFast whether an outage ends calls that have a deadline of their own, too
     * @param releaseOnShutdown whether the client closes itself when the JVM ends
     * @param releaseAbandoned whether holds of threads that have ended are released
     * @param longHold the time after which a hold causes a warning; null if no hold is, and no places are kept
     * @param recordWaitsAfter after how long the engine is to know of a thread that holds a lock and waits for another
     * @param deadlocks what is done about deadlocks
     */
    public record Care(
            boolean timedCallsFailFast,
            boolean releaseOnShutdown,
            boolean releaseAbandoned,
            @Nullable Duration longHold,
            Duration recordWaitsAfter,
            DeadlockPolicy deadlocks) {
        static final Care DEFAULT = new Care(false, false, false, null, Duration.ofSeconds(1), DeadlockPolicy.REPORT);
    }

    /** Connects to the engine that a URL or a factory names; exactly one of the two is given. */
    public static LockClient connect(
            @Nullable String url, @Nullable BackendFactory backend, Fallback fallback, Settings settings) {
        if (url != null && backend != null) {
            throw new LockConfigurationException(null, "Set a URL or a backend, not both.");
        }
        if (backend != null) {
            return Client.open(backend, settings, plan(null, fallback, settings));
        }
        if (url == null) {
            throw new LockConfigurationException(null, "Set a URL, such as memory:, or a backend.");
        }
        return Client.open(parse(url), settings, plan(url, fallback, settings));
    }

    /** Null to fail fast. */
    private static @Nullable FallbackPlan plan(@Nullable String url, Fallback fallback, Settings settings) {
        Duration after = fallback.after().orElse(settings.requestTimeout().multipliedBy(2));
        return switch (fallback.kind()) {
            case FAIL_FAST -> null;
            case ENGINE -> {
                String other = fallback.url().orElseThrow();
                if (other.equals(url)) {
                    throw new LockConfigurationException(
                            null, "An engine cannot be its own fallback: give the fallback another URL.");
                }
                yield new FallbackPlan(parse(other), after);
            }
            case THIS_JVM -> new FallbackPlan(parse(jvmEngine(url)), after);
        };
    }

    /** The engine of this JVM that clients of one URL fall back to. Namespaces are apart in every engine. */
    private static String jvmEngine(@Nullable String url) {
        return url == null
                ? "memory:"
                : "memory:fallback-" + UUID.nameUUIDFromBytes(url.getBytes(StandardCharsets.UTF_8));
    }

    private static BackendFactory parse(String url) {
        Matcher matcher = SCHEME.matcher(url);
        if (!matcher.matches()) {
            // The text is not repeated: it may hold a password.
            throw new LockConfigurationException(
                    null,
                    "The URL does not begin with a scheme. Expected something like memory: or redis://host:6379.");
        }
        String scheme = matcher.group(1).toLowerCase(Locale.ROOT);
        TreeSet<String> known = new TreeSet<>();
        for (BackendProvider provider : ServiceLoader.load(BackendProvider.class, Clients.class.getClassLoader())) {
            if (provider.schemes().contains(scheme)) {
                return provider.parse(url);
            }
            known.addAll(provider.schemes());
        }
        String artifact = ARTIFACTS.get(scheme);
        throw new LockConfigurationException(
                null,
                artifact != null
                        ? "No engine for '" + scheme + ":' is on the class path. Add the artifact dev.lockstep:"
                                + artifact + "."
                        : "No engine for '" + scheme + ":' is known. On the class path are: " + String.join(", ", known)
                                + ".");
    }

    /** Checks a namespace. */
    public static String requireNamespace(String namespace) {
        return Names.require(namespace, "namespace", 64);
    }

    /** Checks a name other than a lock's. */
    public static String requireName(String name, String what) {
        return Names.require(name, what, Names.MAX_BYTES);
    }
}
