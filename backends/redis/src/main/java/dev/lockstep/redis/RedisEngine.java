package dev.lockstep.redis;

import dev.lockstep.LockConfigurationException;
import dev.lockstep.redis.internal.Failure;
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
import java.util.Objects;
import java.util.function.Function;
import redis.clients.jedis.UnifiedJedis;

/**
 * Locks through a Jedis client that the application has already, in place of a URL:
 *
 * <pre>{@code
 * LockClient locks = LockClient.builder().backend(RedisEngine.on(jedis).replicas(1)).connect();
 * }</pre>
 *
 * <p>Lockstep borrows connections of the client, and keeps one of them for as long as the lock client is open; it does not
 * close the client. The client's timeouts should not be longer than the lock client's request timeout.
 *
 * <p>Immutable: each method returns a copy. Safe for use by many threads.
 */
public final class RedisEngine implements BackendFactory {
    private final Function<BackendContext, Route> route;
    private final Settings settings;

    private RedisEngine(Function<BackendContext, Route> route, Settings settings) {
        this.route = route;
        this.settings = settings;
    }

    /**
     * Locks on the servers of a Jedis client: a single server, the primary that Sentinels name, or a cluster.
     *
     * @param client such as a {@code RedisClient}, {@code RedisSentinelClient} or {@code RedisClusterClient}, or, before
     *     Jedis 8, a {@code JedisPooled}, {@code JedisSentineled} or {@code JedisCluster}; belongs to the caller, which
     *     closes it after the lock client
     * @return the factory, with the defaults
     * @throws LockConfigurationException when the lock client connects, if it is a client of another kind
     */
    public static RedisEngine on(UnifiedJedis client) {
        Objects.requireNonNull(client, "client");
        return new RedisEngine(context -> JedisAccess.route(client, "server"), Settings.DEFAULTS);
    }

    /**
     * Chooses the textbook's lock, {@code SET NX PX} and compare-and-delete, without a queue on the server: no fair,
     * shared or sticky locks, no semaphores, and waiters that try again now and then. As {@code ?queue=off} in a URL.
     *
     * @return a copy
     */
    public RedisEngine withoutQueue() {
        return new RedisEngine(route, settings.withQueue(false));
    }

    /**
     * Asks that replicas confirm each grant before it counts. A grant that too few confirm is released, and the call
     * throws {@link dev.lockstep.LockUnavailableException}. As {@code ?replicas=1} in a URL.
     *
     * @param count how many replicas; 0, the default, asks nobody
     * @return a copy
     * @throws IllegalArgumentException if it is negative
     */
    public RedisEngine replicas(int count) {
        if (count < 0) {
            throw new IllegalArgumentException("replicas must not be negative: " + count);
        }
        return new RedisEngine(route, settings.withReplicas(count));
    }

    /**
     * Sets how long a waiter keeps its place in the queue after its client died; also what a fair lock that is handed to
     * a dead waiter costs the others. Never more than the ttl. As {@code ?waiterExpiry=5s} in a URL.
     *
     * @param expiry at least 500 milliseconds; 5 seconds unless set
     * @return a copy
     * @throws IllegalArgumentException if it is shorter
     */
    public RedisEngine waiterExpiry(Duration expiry) {
        return new RedisEngine(route, settings.withWaiterExpiry(expiry));
    }

    /**
     * Uses a server even if its eviction policy removes locks when its memory is short, with a warning. Then a lock that is
     * held can be granted to another client; its holder is notified at the next renewal. Without this, such a server is
     * refused. As {@code ?eviction=accept} in a URL.
     *
     * @return a copy
     */
    public RedisEngine acceptEviction() {
        return new RedisEngine(route, settings.withEviction(true));
    }

    @Override
    public LockBackend open(BackendContext context) {
        return open(context, route, settings);
    }

    @Override
    public String engine() {
        return "redis";
    }

    static LockBackend open(BackendContext context, Function<BackendContext, Route> route, Settings settings) {
        return Retry.connect(context, () -> openOnce(context, route, settings), Tls::isCauseOf);
    }

    private static LockBackend openOnce(
            BackendContext context, Function<BackendContext, Route> route, Settings settings) {
        JedisAccess.requireMembers();
        Link link = new Link(route.apply(context), context);
        RedisBackend backend = new RedisBackend(context, link, settings);
        try {
            backend.open();
            return backend;
        } catch (Failure e) {
            backend.close();
            throw e.asLockstepException(null, "connect");
        } catch (RuntimeException e) {
            backend.close();
            throw e;
        }
    }
}
