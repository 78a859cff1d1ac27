package dev.lockstep.jdbc;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.pool.HikariPool;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.time.Duration;
import java.util.Locale;
import java.util.Properties;
import java.util.function.Supplier;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** The small pool of a client that was given a URL. */
final class OwnPool {
    private static final long LEAST_MILLIS = 250; // Hikari refuses less
    private static final Duration IDLE = Duration.ofMinutes(1);

    private OwnPool() {}

    /** Opens a pool with its first connection. */
    static HikariDataSource open(DataSource source, String name, int size, Duration requestTimeout)
            throws SQLException {
        long timeout = Math.max(LEAST_MILLIS, requestTimeout.toMillis());
        Gate gate = new Gate(source);
        HikariConfig config = new HikariConfig();
        config.setDataSource(gate);
        config.setPoolName("lockstep-" + name);
        config.setMaximumPoolSize(size);
        config.setMinimumIdle(1);
        if (size > 1) {
            config.setIdleTimeout(IDLE.toMillis()); // else there is nothing to close, and Hikari would warn
        }
        config.setConnectionTimeout(timeout);
        config.setValidationTimeout(timeout);
        config.setInitializationFailTimeout(1);
        config.setAutoCommit(true);
        try {
            return new HikariDataSource(config) {
                @Override
                public void close() {
                    gate.closed = true;
                    super.close();
                }
            };
        } catch (HikariPool.PoolInitializationException e) {
            throw e.getCause() instanceof SQLException sql ? sql : new SQLException(e.getCause());
        }
    }

    /** Connects by a URL that has the password, if there is one. */
    static DataSource source(String url, Dialect dialect, Duration requestTimeout) {
        return source(url, dialect, requestTimeout, null);
    }

    /**
     * Connects by a URL, with the dialect's settings where the URL has none.
     *
     * @param password supplies the password for each connection; null if the URL has it
     */
    static DataSource source(
            String url, Dialect dialect, Duration requestTimeout, @Nullable Supplier<String> password) {
        Driver driver = Drivers.of(url, dialect);
        Properties settings = new Properties();
        String lower = url.toLowerCase(Locale.ROOT);
        dialect.driverSettings(requestTimeout).forEach((key, value) -> {
            if (!lower.contains(key.toLowerCase(Locale.ROOT) + "=")) {
                settings.setProperty(key, value);
            }
        });
        return new DriverSource() {
            @Override
            public Connection getConnection() throws SQLException {
                Properties own = (Properties) settings.clone();
                if (password != null) {
                    own.setProperty("password", password.get());
                }
                Connection connection = driver.connect(url, own);
                if (connection == null) {
                    throw new SQLException("The driver does not understand the URL.", "0A000");
                }
                try {
                    dialect.prepare(connection, requestTimeout);
                    setTimeout(connection, requestTimeout);
                    return connection;
                } catch (SQLException | RuntimeException e) {
                    connection.close();
                    throw e;
                }
            }
        };
    }

    private static void setTimeout(Connection connection, Duration requestTimeout) {
        try {
            connection.setNetworkTimeout(Runnable::run, Integer.parseInt(Dialect.millis(requestTimeout)));
        } catch (SQLException | RuntimeException e) {
            // A database inside the process has no network.
        }
    }

    /** Lets nothing through any more once its pool is closed, which forgets connections that come later. */
    private static final class Gate extends DriverSource {
        private final DataSource source;
        private volatile boolean closed;

        Gate(DataSource source) {
            this.source = source;
        }

        @Override
        public Connection getConnection() throws SQLException {
            Connection connection = source.getConnection();
            if (closed) {
                connection.close();
                throw new SQLException("The pool was closed.", "08003");
            }
            return connection;
        }
    }

    /** The parts of a data source that nobody uses. */
    private abstract static class DriverSource implements DataSource {
        @Override
        public Connection getConnection(String user, String password) throws SQLException {
            throw new SQLFeatureNotSupportedException();
        }

        @Override
        public @Nullable PrintWriter getLogWriter() {
            return null;
        }

        @Override
        public void setLogWriter(@Nullable PrintWriter out) {}

        @Override
        public void setLoginTimeout(int seconds) {}

        @Override
        public int getLoginTimeout() {
            return 0;
        }

        @Override
        public Logger getParentLogger() throws SQLFeatureNotSupportedException {
            throw new SQLFeatureNotSupportedException();
        }

        @Override
        public <T> T unwrap(Class<T> type) throws SQLException {
            throw new SQLException("not a wrapper");
        }

        @Override
        public boolean isWrapperFor(Class<?> type) {
            return false;
        }
    }
}
