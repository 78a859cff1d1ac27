package dev.lockstep.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.RequestObserver;
import dev.lockstep.spi.Scheduler;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lends connections, each for one request. Never keeps one for a lock or a waiter, and never joins a transaction of its
 * caller. Returns a connection in the state in which it came. Keeps one for the session alone, so that the session
 * stays alive when all others are in use. Safe for use by many threads.
 */
final class Connections implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Connections.class);
    private static final int CONFLICTS = 20;

    private final DataSource source;
    private final AutoCloseable ownPool;
    private final @Nullable DataSource keeping;
    private final Database database;
    private final Dialect dialect;
    private final Scheduler scheduler;
    private final RequestObserver observer;
    private final long requestTimeoutNanos;
    private final AtomicLong lastContactNanos;
    private volatile Tuning tuning = connection -> {};
    private final AtomicReference<@Nullable Connection> kept = new AtomicReference<>(); // null while it is used
    private volatile boolean closed;

    /** An operation that needs the driver's own interface. */
    @FunctionalInterface
    interface Tuning {
        void tune(Connection connection) throws SQLException;
    }

    /**
     * Makes it.
     *
     * @param ownPool the pool to close at the end
     * @param keeping the source of the session's connection; null if the session has none of its own
     */
    Connections(
            DataSource source,
            AutoCloseable ownPool,
            @Nullable DataSource keeping,
            Database database,
            BackendContext context) {
        this.source = source;
        this.ownPool = ownPool;
        this.keeping = keeping;
        this.database = database;
        this.dialect = database.dialect();
        this.scheduler = context.scheduler();
        this.observer = context.requests();
        this.requestTimeoutNanos = context.requestTimeout().toNanos();
        this.lastContactNanos = new AtomicLong(scheduler.nanoTime());
    }

    void tune(Tuning now) {
        tuning = now;
    }

    long lastContactNanos() {
        return lastContactNanos.get();
    }

    Database database() {
        return database;
    }

    /** Runs a request, which can be repeated: again if it lost against another one. */
    <T> T call(Link.Work<T> work) throws SQLException {
        return call("statement", requestTimeoutNanos, work);
    }

    private <T> T call(String kind, long timeoutNanos, Link.Work<T> work) throws SQLException {
        return repeat(kind, timeoutNanos, deadline -> callOnce(work, deadline));
    }

    /**
     * Runs a request of the session as {@link #call(Link.Work)} does, in a time of its own and on a connection that is kept
     * for it. One thread at a time.
     */
    <T> T callForSession(String kind, long timeoutNanos, Link.Work<T> work) throws SQLException {
        return keeping == null
                ? call(kind, timeoutNanos, work)
                : repeat(kind, timeoutNanos, deadline -> callKept(keeping, work, deadline));
    }

    /** One try of a request. */
    @FunctionalInterface
    private interface Try<T> {
        T run(long deadline) throws SQLException;
    }

    private <T> T repeat(String kind, long timeoutNanos, Try<T> once) throws SQLException {
        long deadline = scheduler.nanoTime() + timeoutNanos;
        for (int conflicts = 1; ; conflicts++) {
            long sent = scheduler.nanoTime();
            try {
                T answer = once.run(deadline);
                observer.ended(kind, sent, null);
                return answer;
            } catch (SQLException e) {
                observer.ended(kind, sent, e);
                if (conflicts >= CONFLICTS
                        || Failure.of(e, dialect) != Failure.CONFLICT
                        || scheduler.nanoTime() - deadline >= 0) {
                    throw Failure.withoutSecrets(e);
                }
            }
        }
    }

    private <T> T callOnce(Link.Work<T> work, long deadline) throws SQLException {
        Connection connection = borrow(source);
        Connection fromDriver = fromDriver(connection);
        try {
            return callOn(connection, work, deadline);
        } finally {
            close(connection);
            if (source instanceof HikariDataSource pool && pool.isClosed()) {
                // The pool was closed while the connection was in use: it aborted and forgot it. With some drivers,
                // such as H2's, abort does nothing, and the server would keep it.
                close(fromDriver);
            }
        }
    }

    /** The driver's connection behind a pool's; the connection itself if it is not from a pool. */
    private static Connection fromDriver(Connection connection) {
        try {
            return connection.unwrap(Connection.class);
        } catch (SQLException | RuntimeException e) {
            return connection; // a driver that wraps nothing
        }
    }

    /** Runs a request on the connection that is kept; one on which a request has failed is replaced by the next. */
    private <T> T callKept(DataSource from, Link.Work<T> work, long deadline) throws SQLException {
        Connection idle = kept.getAndSet(null);
        Connection connection = idle == null ? borrow(from) : idle;
        boolean done = false;
        try {
            T answer = callOn(connection, work, deadline);
            done = true;
            return answer;
        } finally {
            if (done) {
                kept.set(connection);
            } else {
                close(connection);
            }
            if (closed) {
                closeKept();
            }
        }
    }

    private void closeKept() {
        Connection idle = kept.getAndSet(null);
        if (idle != null) {
            close(idle);
        }
    }

    private <T> T callOn(Connection connection, Link.Work<T> work, long deadline) throws SQLException {
        Link link = new Link(dialect, connection, database.together(), scheduler, deadline, this::noteContact);
        int timeout = link.readTimeout();
        boolean manual = false;
        try {
            tuning.tune(connection);
            manual = !connection.getAutoCommit();
            if (manual) {
                connection.setAutoCommit(true);
            }
            return work.run(link);
        } catch (SQLException e) {
            if (Failure.spoilsConnection(e, dialect)) {
                evict(connection);
            }
            throw e;
        } catch (Error e) { // such as a lack of memory: like a lost answer, so that callers try again
            evict(connection);
            throw Failure.asSqlException(e);
        } finally {
            if (link.isBroken()) {
                evict(connection); // not every driver closes an aborted connection
            }
            giveBack(connection, link, timeout, manual);
        }
    }

    /**
     * The answer counts, whatever happens to its connection: a pool that is closed meanwhile may throw any exception.
     */
    private static void close(Connection connection) {
        try {
            connection.close();
        } catch (SQLException | RuntimeException e) {
            log.debug("A connection could not be returned", e);
        }
    }

    private static Connection borrow(DataSource from) throws SQLException {
        try {
            return from.getConnection();
        } catch (RuntimeException | Error e) { // an error, as if no thread can be started, which some drivers need
            throw Failure.asSqlException(e); // callers that retry failures retry this, too
        }
    }

    /** The database has answered a request that was sent then: so it serves, or says that others hold a lock. */
    void noteContact(long sent) {
        lastContactNanos.accumulateAndGet(sent, (known, now) -> now - known > 0 ? now : known);
    }

    /**
     * Keeps a pool from lending a broken connection again, which it would do while the connection is used often enough.
     */
    private void evict(Connection connection) {
        if (source instanceof HikariDataSource pool) {
            pool.evictConnection(connection);
        }
    }

    /** Restores the original state of a connection. If the connection is broken, this fails, and its pool notices. */
    private static void giveBack(Connection connection, Link link, int timeout, boolean manual) {
        try {
            if (timeout >= 0) {
                link.setTimeout(timeout);
            }
            if (manual) {
                connection.setAutoCommit(false);
            }
        } catch (SQLException | RuntimeException e) {
            log.debug("A connection could not be returned as it was borrowed", e);
        }
    }

    @Override
    public void close() {
        closed = true;
        closeKept();
        try {
            ownPool.close();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
