package dev.lockstep.redis.internal;

import java.util.Collections;
import java.util.Deque;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.util.Pool;

/**
 * Connections that are made as those of the route's pools are, but belong to no pool: an exhausted pool does not keep
 * them from their work, which is to renew holds. While the servers answer, there is one for each. Safe for use by many
 * threads.
 */
final class OwnConnections implements Connections, AutoCloseable {
    private final Route route;
    private final ConnectThreads threads;
    private final Map<Pool<Connection>, Deque<Connection>> idle = new ConcurrentHashMap<>();
    private final Map<Connection, Pool<Connection>> madeAs = Collections.synchronizedMap(new WeakHashMap<>());
    private volatile boolean closed;

    OwnConnections(Route route, ConnectThreads threads) {
        this.route = route;
        this.threads = threads;
    }

    @Override
    public Connection borrow(int slot, @Nullable HostAndPort target, long waitNanos) throws InterruptedException {
        Pool<Connection> pool = route.pool(slot, target);
        Deque<Connection> known = idle.get(pool);
        Connection connection = known == null ? null : known.pollFirst();
        return connection != null ? connection : threads.await(() -> connect(pool), waitNanos);
    }

    private Connection connect(Pool<Connection> pool) throws Exception {
        closeIdle(false); // of servers that are not used any more
        Connection connection = pool.getFactory().makeObject().getObject();
        madeAs.put(connection, pool);
        return connection;
    }

    @Override
    public void giveBack(Connection connection) {
        Pool<Connection> pool = madeAs.get(connection);
        if (pool == null || connection.isBroken()) {
            ConnectThreads.giveBack(connection);
            return;
        }
        idle.computeIfAbsent(pool, unused -> new ConcurrentLinkedDeque<>()).addFirst(connection);
        if (closed) {
            closeIdle(true);
        }
    }

    private void closeIdle(boolean all) {
        idle.forEach((pool, connections) -> {
            if (all || pool.isClosed()) {
                for (Connection one = connections.pollFirst(); one != null; one = connections.pollFirst()) {
                    ConnectThreads.giveBack(one);
                }
                idle.remove(pool, connections);
            }
        });
    }

    @Override
    public void close() {
        closed = true;
        closeIdle(true);
    }
}
