package dev.lockstep.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.Retry;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection and one thread that receive the notifications of other clients. If the connection drops, waiters poll
 * until there is another. Safe for use by many threads.
 */
final class PostgresListener implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(PostgresListener.class);
    private static final int CHECK_MILLIS = 5_000;
    private static final int ECHO_MILLIS = 1_000;
    private static final String ECHO = "E";

    private final DataSource source;
    private final Connections connections;
    private final BackendContext context;
    private final String channel;
    private @Nullable JdbcBackend backend; // set once, before the thread starts
    private volatile @Nullable Connection connection;
    private volatile boolean up;
    private volatile boolean closed;

    private PostgresListener(DataSource source, Connections connections, BackendContext context) {
        this.source = source;
        this.connections = connections;
        this.context = context;
        this.channel = PostgresPush.channel(context.clientId());
    }

    /** Opens a listener; null if this database, or what is in between, does not deliver notifications. */
    static @Nullable PostgresListener open(DataSource source, Connections connections, BackendContext context) {
        PostgresListener listener = new PostgresListener(source, connections, context);
        try {
            if (listener.connect()) {
                return listener;
            }
            log.info("Notifications do not come through: a pooler may be in between. Waiters poll instead.");
        } catch (SQLException | RuntimeException e) {
            log.info(
                    "Notifications are not available, so waiters poll: {}",
                    Failure.withoutSecrets(Failure.asSqlException(e)).toString());
        }
        listener.close();
        return null;
    }

    /**
     * Keeps the driver from preparing statements on the server, since a pooler may give each one another connection.
     */
    static void unprepared(Connection connection) throws SQLException {
        if (connection.isWrapperFor(PGConnection.class)) {
            connection.unwrap(PGConnection.class).setPrepareThreshold(0);
        }
    }

    /**
     * Listens, and asks for an echo by way of another connection. A pooler in transaction mode takes LISTEN without an
     * error, and delivers notifications to the client that has its connection then; so only an echo proves that it
     * works.
     */
    private boolean connect() throws SQLException {
        Connection fresh = source.getConnection();
        connection = fresh;
        if (closed || !fresh.isWrapperFor(PGConnection.class)) {
            disconnect();
            return false;
        }
        fresh.setAutoCommit(true);
        fresh.setNetworkTimeout(Runnable::run, (int) context.requestTimeout().toMillis());
        try (Statement statement = fresh.createStatement()) {
            statement.execute("LISTEN \"" + channel + '"');
        }
        connections.call(link -> PostgresPush.send(link, channel, ECHO));
        long end = context.scheduler().nanoTime() + ECHO_MILLIS * 1_000_000L;
        while (!up && context.scheduler().nanoTime() - end < 0) {
            hear(fresh, ECHO_MILLIS);
        }
        if (!up) {
            disconnect();
        }
        return up;
    }

    boolean isUp() {
        return up;
    }

    /** Begins to pass on notifications. */
    void listen(JdbcBackend to) {
        backend = to;
        start();
    }

    private void start() {
        Thread thread = new Thread(this::run, "lockstep-jdbc-listener-" + context.clientName());
        thread.setDaemon(true);
        thread.start();
    }

    private void run() {
        Connection current = connection;
        try {
            while (!closed && current != null) {
                if (!hear(current, CHECK_MILLIS)) {
                    try (Statement statement = current.createStatement()) {
                        statement.execute("SELECT 1"); // the silence may mean that the connection is gone
                    }
                }
            }
        } catch (SQLException | RuntimeException | Error e) {
            if (!closed) {
                log.debug("The connection for notifications was lost; waiters poll until there is another", e);
            }
        }
        up = false;
        disconnect();
        reconnectLater(Retry.endless(context));
    }

    /** Waits for notifications and passes them on; false if none came in time. */
    private boolean hear(Connection from, int millis) throws SQLException {
        PGNotification[] heard = from.unwrap(PGConnection.class).getNotifications(millis);
        if (heard == null || heard.length == 0) {
            return false;
        }
        for (PGNotification notification : heard) {
            String payload = notification.getParameter();
            if (payload.equals(ECHO)) {
                up = true;
            } else if (backend != null && !payload.isEmpty()) {
                pass(backend, payload);
            }
        }
        return true;
    }

    private static void pass(JdbcBackend to, String payload) {
        for (Push.Message message : Push.Message.values()) {
            if (message.code == payload.charAt(0)) {
                to.received(message, payload.substring(1));
            }
        }
    }

    private void reconnectLater(Retry retry) {
        JdbcBackend owner = backend;
        if (closed || owner == null) {
            return;
        }
        owner.waiters().lookNow();
        retry.later(() -> owner.requests().run(Duration.ZERO, () -> reconnect(owner, retry), () -> {}));
    }

    private void reconnect(JdbcBackend owner, Retry retry) {
        try {
            if (connect()) {
                owner.waiters().lookNow(); // notifications sent meanwhile are lost
                start();
                return;
            }
        } catch (SQLException | RuntimeException | Error e) { // an error, as if no thread can be started
            log.debug("Notifications are not available yet", e);
            up = false;
            disconnect();
        }
        reconnectLater(retry);
    }

    private void disconnect() {
        Connection known = connection;
        connection = null;
        if (known != null) {
            try {
                // A pool must not lend a connection that listens, so the connection itself is closed first.
                if (source instanceof HikariDataSource pool) {
                    pool.evictConnection(known); // or it would warn that the connection is broken
                }
                if (known.isWrapperFor(PGConnection.class)
                        && known.unwrap(PGConnection.class) instanceof Connection physical) {
                    physical.close();
                }
                known.close();
            } catch (SQLException | RuntimeException e) {
                log.debug("The connection for notifications did not close", e);
            }
        }
    }

    @Override
    public void close() {
        closed = true;
        disconnect();
    }
}
