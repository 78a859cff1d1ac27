package dev.lockstep.redis.internal;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionPool;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.providers.SentineledConnectionProvider;
import redis.clients.jedis.util.Pool;

/** The way to one primary at a time: a single server, or the one that Sentinels name. */
public final class PoolRoute implements Route {
    private final Supplier<Pool<Connection>> pool;
    private final Supplier<String> name;
    private final boolean led;
    private final @Nullable Runnable onClose;
    private volatile @Nullable String place;

    private PoolRoute(Supplier<Pool<Connection>> pool, Supplier<String> name, boolean led, @Nullable Runnable onClose) {
        this.pool = pool;
        this.name = name;
        this.led = led;
        this.onClose = onClose;
    }

    /**
     * The way to a single server.
     *
     * @param name stands for the server's address until a connection reports it
     * @param onClose closes the pool; null if it belongs to the application
     */
    static PoolRoute to(Pool<Connection> pool, String name, @Nullable Runnable onClose) {
        return new PoolRoute(() -> pool, () -> name, false, onClose);
    }

    /**
     * The way to the primary that Sentinels name.
     *
     * @param onClose closes the provider; null if it belongs to the application
     */
    static PoolRoute to(SentineledConnectionProvider sentinels, @Nullable Runnable onClose) {
        return new PoolRoute(
                () -> JedisAccess.pool(sentinels),
                () -> sentinels.getCurrentMaster() + " (by Sentinel)",
                true,
                onClose);
    }

    /**
     * Lends a connection of a pool, as its own {@code getResource} does, but with our own timeout. A pool that is
     * closed, as Jedis does on a failover, interrupts the threads that wait for it. This interrupt is not meant for the
     * caller of a lock, and ends here.
     */
    public static Connection borrow(Pool<Connection> pool, long waitNanos) throws InterruptedException {
        try {
            Connection connection = pool.borrowObject(Duration.ofNanos(Math.max(waitNanos, 1_000_000)));
            if (pool instanceof ConnectionPool owner) {
                connection.setHandlingPool(owner);
            }
            return connection;
        } catch (Exception e) {
            if (pool.isClosed()) {
                Thread.interrupted();
                throw new JedisConnectionException("the connection pool was closed meanwhile", e);
            }
            if (e instanceof InterruptedException interrupt) {
                throw interrupt;
            }
            throw e instanceof RuntimeException failure ? failure : new JedisException(e);
        }
    }

    /** Whether a pool is about to connect for its next borrower; else it has a connection, or all are lent. */
    static boolean connects(Pool<Connection> pool) {
        return pool.getNumIdle() == 0 && (pool.getMaxTotal() < 0 || pool.getNumActive() < pool.getMaxTotal());
    }

    @Override
    public boolean connects(int slot) {
        return connects(pool.get());
    }

    @Override
    public Connection borrow(int slot, long waitNanos) throws InterruptedException {
        Connection connection = borrow(pool.get(), waitNanos);
        if (place == null && !led) {
            HostAndPort address = JedisAccess.address(connection);
            place = address == null ? null : address.toString();
        }
        return connection;
    }

    @Override
    public Connection borrow(HostAndPort node, int slot, long waitNanos) throws InterruptedException {
        return borrow(pool.get(), waitNanos);
    }

    @Override
    public Pool<Connection> pool(int slot, @Nullable HostAndPort target) {
        return pool.get();
    }

    @Override
    public List<Connection> borrowAll(ConnectThreads threads, long waitNanos) throws InterruptedException {
        return List.of(
                connects(-1) ? threads.awaitAnyway(() -> borrow(-1, waitNanos), waitNanos) : borrow(-1, waitNanos));
    }

    @Override
    public void distrust(@Nullable Connection connection, boolean timedOut) {
        if (onClose != null || !timedOut) {
            pool.get().clear();
        }
    }

    @Override
    public Collection<Pool<Connection>> pools() {
        return List.of(pool.get());
    }

    @Override
    public boolean isLedToPrimaries() {
        return led;
    }

    @Override
    public String serverOf(int slot) {
        return "";
    }

    @Override
    public String toString() {
        String known = place;
        return known != null ? known : name.get();
    }

    @Override
    public void close() {
        if (onClose != null) {
            onClose.run();
        }
    }
}
