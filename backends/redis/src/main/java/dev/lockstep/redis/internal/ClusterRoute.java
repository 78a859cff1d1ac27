package dev.lockstep.redis.internal;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionPool;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.providers.ClusterConnectionProvider;
import redis.clients.jedis.util.Pool;

/** The way to the primaries of a cluster. */
public final class ClusterRoute implements Route {
    private static final int SLOTS = 16_384;

    private final ClusterConnectionProvider cluster;
    private final @Nullable Runnable onClose;
    private final AtomicReferenceArray<@Nullable String> servers = new AtomicReferenceArray<>(SLOTS);
    private volatile @Nullable String silent;

    /**
     * The way to the servers of a cluster.
     *
     * @param onClose closes the cluster's pools; null if they belong to the application
     */
    public ClusterRoute(ClusterConnectionProvider cluster, @Nullable Runnable onClose) {
        this.cluster = cluster;
        this.onClose = onClose;
    }

    @Override
    public Connection borrow(int slot, long waitNanos) throws InterruptedException {
        int wanted = slot >= 0 ? slot : ThreadLocalRandom.current().nextInt(SLOTS);
        ConnectionPool known = knownPool(wanted);
        // Jedis' own way from a slot to a connection would wait for as long as the application's pool says.
        return known == null
                ? PoolRoute.borrow(anyPool(), waitNanos)
                : known(wanted, PoolRoute.borrow(known, waitNanos));
    }

    @Override
    public boolean connects(int slot) {
        ConnectionPool known = slot < 0 ? null : knownPool(slot);
        return known == null || PoolRoute.connects(known);
    }

    /** The pool of the server that has a slot, as far as this route or Jedis knows it. */
    private @Nullable ConnectionPool knownPool(int slot) {
        ConnectionPool known = poolOf(servers.get(slot));
        if (known != null) {
            return known;
        }
        HostAndPort node = cluster.getNode(slot);
        return node == null ? null : poolOf(node.toString());
    }

    @Override
    public Connection borrow(HostAndPort node, int slot, long waitNanos) throws InterruptedException {
        ConnectionPool pool = poolOf(node.toString());
        if (pool == null) {
            cluster.renewSlotCache();
            pool = poolOf(node.toString());
        }
        // A node may be known by another address than the one it reports.
        return pool == null ? borrow(slot, waitNanos) : known(slot, PoolRoute.borrow(pool, waitNanos));
    }

    @Override
    public Pool<Connection> pool(int slot, @Nullable HostAndPort target) {
        if (target != null && slot >= 0) {
            servers.lazySet(slot, target.toString());
        }
        ConnectionPool pool = slot >= 0 ? poolOf(servers.get(slot)) : null;
        return pool != null ? pool : anyPool();
    }

    /** Any node redirects requests for slots that it does not have; but skip the one that did not answer last. */
    private ConnectionPool anyPool() {
        Map<String, ConnectionPool> nodes = new HashMap<>(cluster.getNodes());
        if (nodes.size() > 1) {
            nodes.remove(String.valueOf(silent));
        }
        List<ConnectionPool> pools = List.copyOf(nodes.values());
        if (pools.isEmpty()) {
            throw new JedisConnectionException("no server of the cluster is known");
        }
        return pools.get(ThreadLocalRandom.current().nextInt(pools.size()));
    }

    @Override
    public void forget(int slot) {
        String server = slot < 0 ? null : servers.get(slot);
        if (server == null) {
            return;
        }
        silent = server;
        for (int other = 0; other < SLOTS; other++) {
            String known = servers.get(other);
            if (server.equals(known)) {
                servers.compareAndSet(other, known, null);
            }
        }
    }

    private @Nullable ConnectionPool poolOf(@Nullable String server) {
        return server == null ? null : cluster.getNodes().get(server);
    }

    private Connection known(int slot, Connection connection) {
        if (slot >= 0) {
            servers.lazySet(slot, String.valueOf(JedisAccess.address(connection)));
        }
        return connection;
    }

    @Override
    public @Nullable String serverOf(int slot) {
        return slot >= 0 ? servers.get(slot) : null;
    }

    /** Unreachable nodes are left out: after a failover the cluster still lists its dead nodes. */
    @Override
    public List<Connection> borrowAll(ConnectThreads threads, long waitNanos) throws InterruptedException {
        List<Connection> primaries = new ArrayList<>();
        try {
            borrowAll(primaries, threads, System.nanoTime() + waitNanos);
        } catch (InterruptedException | RuntimeException e) {
            primaries.forEach(ConnectThreads::giveBack);
            throw e;
        }
        return primaries;
    }

    private void borrowAll(List<Connection> primaries, ConnectThreads threads, long deadlineNanos)
            throws InterruptedException {
        JedisException unreachable = null;
        for (ConnectionPool pool : new TreeMap<>(cluster.getNodes()).values()) {
            try {
                long wait = share(deadlineNanos);
                Connection connection = PoolRoute.connects(pool)
                        ? threads.awaitAnyway(() -> PoolRoute.borrow(pool, wait), wait)
                        : PoolRoute.borrow(pool, wait);
                if (isPrimary(connection, threads, share(deadlineNanos))) {
                    primaries.add(connection);
                } else {
                    ConnectThreads.giveBack(connection);
                }
            } catch (JedisException e) {
                unreachable = e;
            }
        }
        if (primaries.isEmpty() && unreachable != null) {
            throw unreachable;
        }
    }

    /** Half of the time that is left, so that a server that is silent leaves some for the others. */
    private static long share(long deadlineNanos) {
        return Math.max(1, (deadlineNanos - System.nanoTime()) / 2);
    }

    private static boolean isPrimary(Connection connection, ConnectThreads threads, long waitNanos) {
        int usualTimeout = connection.getSoTimeout();
        try {
            connection.setSoTimeout(
                    (int) Math.max(1, Math.min(TimeUnit.NANOSECONDS.toMillis(waitNanos), Integer.MAX_VALUE)));
            boolean primary = connection.executeCommand(Protocol.Command.ROLE) instanceof List<?> role
                    && role.get(0) instanceof byte[] name
                    && new String(name, StandardCharsets.US_ASCII).equals("master");
            connection.setSoTimeout(usualTimeout);
            return primary;
        } catch (RuntimeException e) {
            threads.execute(() -> ConnectThreads.giveBack(connection));
            throw e;
        }
    }

    @Override
    public void distrust(@Nullable Connection connection, boolean timedOut) {
        if (onClose == null && timedOut) {
            return;
        }
        Map<String, ConnectionPool> nodes = cluster.getNodes();
        ConnectionPool pool = connection == null ? null : nodes.get(String.valueOf(JedisAccess.address(connection)));
        if (pool != null) {
            pool.clear();
        }
    }

    @Override
    public Collection<ConnectionPool> pools() {
        return cluster.getNodes().values();
    }

    @Override
    public void refresh() {
        cluster.renewSlotCache();
    }

    @Override
    public boolean isCluster() {
        return true;
    }

    @Override
    public String toString() {
        return cluster.getNodes().keySet().toString();
    }

    @Override
    public void close() {
        if (onClose != null) {
            onClose.run();
        }
    }
}
