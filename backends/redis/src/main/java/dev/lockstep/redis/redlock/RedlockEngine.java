package dev.lockstep.redis.redlock;

import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockstepException;
import dev.lockstep.redis.internal.JedisAccess;
import dev.lockstep.redis.internal.Link;
import dev.lockstep.redis.internal.Route;
import dev.lockstep.redis.internal.Settings;
import dev.lockstep.redis.internal.Tls;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.BackendFactory;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Retry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.UnifiedJedis;

/**
 * Locks on a majority of several independent Redis servers, through Jedis clients that the application has already, in place
 * of a URL:
 *
 * <pre>{@code
 * LockClient locks = LockClient.builder().backend(RedlockEngine.on(first, second, third)).connect();
 * }</pre>
 *
 * <p>The servers know nothing of each other: no replicas, no cluster. There are three of them or more, an odd number, and
 * all clients name the same ones. There are no fair locks, no shared locks and no semaphores; {@code
 * docs/engines/redlock.md} says why, and what Redlock guarantees.
 *
 * <p>Lockstep borrows connections of the clients, and keeps one of each for as long as the lock client is open; it does
 * not close them. Their timeouts should not be longer than the lock client's request timeout.
 *
 * <p>Immutable: each method returns a copy. Safe for use by many threads.
 */
public final class RedlockEngine implements BackendFactory {
    private static final Logger log = LoggerFactory.getLogger(RedlockEngine.class);
    private static final int FEWEST = 3;
    private static final int UPKEEP_THREADS = 2;

    private final List<Function<BackendContext, Route>> routes;
    private final Settings settings;

    private RedlockEngine(List<Function<BackendContext, Route>> routes, Settings settings) {
        this.routes = routes;
        this.settings = settings;
    }

    /**
     * Locks on some servers.
     *
     * @param servers a client of each server, such as a {@code RedisClient} or, before Jedis 8, a {@code JedisPooled}; they
     *     belong to the caller, which closes them after the lock client
     * @return the factory, with the defaults
     * @throws LockConfigurationException if there are fewer than three, or one is there twice, or one is of Sentinels or of
     *     a cluster
     */
    public static RedlockEngine on(UnifiedJedis... servers) {
        if (new HashSet<>(List.of(servers)).size() < servers.length) {
            throw new LockConfigurationException(
                    null, "The same Jedis client was passed twice. Pass one for each server.");
        }
        checkSize(servers.length);
        List<Function<BackendContext, Route>> routes = new ArrayList<>();
        for (UnifiedJedis server : servers) {
            if (!JedisAccess.isOfSingleServer(server)) {
                throw new LockConfigurationException(
                        null,
                        "A Redlock takes clients of single servers; this is a "
                                + server.getClass().getName() + ".");
            }
            String name = "server " + (routes.size() + 1);
            routes.add(context -> JedisAccess.route(server, name));
        }
        return new RedlockEngine(List.copyOf(routes), Settings.DEFAULTS);
    }

    /** For URLs. */
    static RedlockEngine on(List<Function<BackendContext, Route>> routes, Settings settings) {
        checkSize(routes.size());
        return new RedlockEngine(routes, settings);
    }

    /**
     * Sets how long a waiter keeps its place in the servers' queues after its client died. Never more than the ttl. As
     * {@code ?waiterExpiry=5s} in a URL.
     *
     * @param expiry at least 500 milliseconds; 5 seconds unless set
     * @return a copy
     * @throws IllegalArgumentException if it is shorter
     */
    public RedlockEngine waiterExpiry(Duration expiry) {
        return new RedlockEngine(routes, settings.withWaiterExpiry(expiry));
    }

    /**
     * Uses servers even if their eviction policy removes locks when their memory is short, with a warning. Then a lock that
     * is held can be granted to another client; its holder is notified at the next renewal. Without this, such servers
     * are refused. As {@code ?eviction=accept} in a URL.
     *
     * @return a copy
     */
    public RedlockEngine acceptEviction() {
        return new RedlockEngine(routes, settings.withEviction(true));
    }

    private static void checkSize(int servers) {
        if (servers < FEWEST) {
            throw new LockConfigurationException(
                    null,
                    "A Redlock needs three servers or more, an odd number; here are " + servers
                            + ". With fewer, no server may fail, and a single one with redis:// does better.");
        }
        if (servers % 2 == 0) {
            log.warn(
                    "A Redlock of {} servers survives no more failures than one of {}, and has more that can fail. Use an odd"
                            + " number.",
                    servers,
                    servers - 1);
        }
    }

    @Override
    public LockBackend open(BackendContext context) {
        return Retry.connect(context, () -> openOnce(context), Tls::isCauseOf);
    }

    @Override
    public String engine() {
        return "redlock";
    }

    private LockBackend openOnce(BackendContext context) {
        JedisAccess.requireMembers();
        List<Link> links = new ArrayList<>();
        try {
            for (Function<BackendContext, Route> route : routes) {
                links.add(new Link(route.apply(context), context, RequestQueue.THREADS, UPKEEP_THREADS));
            }
        } catch (LockstepException e) {
            links.forEach(Link::close);
            throw e;
        }
        RedlockBackend backend = new RedlockBackend(context, links, settings);
        try {
            backend.open();
            return backend;
        } catch (RuntimeException e) {
            backend.close();
            throw e;
        }
    }
}
