package dev.lockstep.redis.internal;

import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.util.Pool;

/** The source of connections to the servers. Safe for use by many threads. */
public interface Route extends AutoCloseable {
    /**
     * Lends a connection to the server that has a slot, or to any primary. The borrower closes it.
     *
     * @param slot the slot, or -1 for any
     * @param waitNanos how long to wait for a connection that others use
     * @throws RuntimeException if there is none; nothing was sent
     * @throws InterruptedException if the thread was interrupted while it waited
     */
    Connection borrow(int slot, long waitNanos) throws InterruptedException;

    /**
     * Whether {@link #borrow(int, long)} may have to connect, in the thread of the borrower. If not, there is an idle
     * connection, or the borrower waits for one that others use.
     */
    boolean connects(int slot);

    /** Lends a connection to the server that a redirection names, or if nobody knows it to that of the slot. */
    Connection borrow(HostAndPort node, int slot, long waitNanos) throws InterruptedException;

    /**
     * The pool of the server that a redirection names or that has a slot, as far as that is known without asking; else that
     * of any server, which knows it.
     *
     * @param slot the slot, or -1 for any
     * @param target the server that a redirection names, or null
     */
    Pool<Connection> pool(int slot, @Nullable HostAndPort target);

    /**
     * Lends a connection to each primary, in the order of their addresses.
     *
     * @param threads connect
     * @param waitNanos how long to wait for all of them together, connecting included
     */
    List<Connection> borrowAll(ConnectThreads threads, long waitNanos) throws InterruptedException;

    /**
     * A connection broke, or its server is not the one to ask any more: idle connections that may be as bad are closed.
     * The application's connections are not closed because of a timeout, which says nothing about them.
     *
     * @param connection the connection, or null if none was available
     * @param timedOut whether there was no answer in time
     */
    void distrust(@Nullable Connection connection, boolean timedOut);

    /** The server of a slot did not answer, or could not be reached: another may have taken its place. */
    default void forget(int slot) {}

    /** Finds out again which server has which slots. May block for a round trip. */
    default void refresh() {}

    /** Whether it learns the primary from other servers, so that in a failover it may be led to a former primary. */
    default boolean isLedToPrimaries() {
        return isCluster();
    }

    /** Whether keys are spread over several servers. */
    default boolean isCluster() {
        return false;
    }

    /** A name for the server that had a slot when this route last went there, or null if it never did. */
    default @Nullable String serverOf(int slot) {
        return null;
    }

    /** The pools that it lends from now. */
    Collection<? extends Pool<Connection>> pools();

    /** The servers' addresses, without credentials. */
    @Override
    String toString();

    @Override
    void close();
}
