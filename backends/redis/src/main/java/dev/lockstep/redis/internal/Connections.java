package dev.lockstep.redis.internal;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;

/** Where requests get their connections from. Safe for use by many threads. */
interface Connections {
    /**
     * Lends a connection.
     *
     * @param slot the slot whose server is asked, or -1 for any
     * @param target the server that a redirection names, or null
     * @param waitNanos how long to wait for it, connecting included
     * @throws RuntimeException if there is none; nothing was sent
     * @throws InterruptedException if the thread was interrupted while it waited
     */
    Connection borrow(int slot, @Nullable HostAndPort target, long waitNanos) throws InterruptedException;

    /** Takes a connection back; closes one that is broken. Does not block. */
    void giveBack(Connection connection);

    /** The connections of the route's pools, which others may use too. */
    static Connections ofPools(Route route, ConnectThreads threads, Runnable afterReturn) {
        return new Connections() {
            @Override
            public Connection borrow(int slot, @Nullable HostAndPort target, long waitNanos)
                    throws InterruptedException {
                if (target == null && !route.connects(slot)) {
                    return route.borrow(slot, waitNanos);
                }
                return threads.await(
                        () -> target == null ? route.borrow(slot, waitNanos) : route.borrow(target, slot, waitNanos),
                        waitNanos);
            }

            @Override
            public void giveBack(Connection connection) {
                if (connection.isBroken()) {
                    threads.execute(() -> giveBackNow(connection));
                } else {
                    giveBackNow(connection);
                }
            }

            private void giveBackNow(Connection connection) {
                ConnectThreads.giveBack(connection);
                afterReturn.run();
            }
        };
    }
}
