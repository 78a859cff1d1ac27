package dev.lockstep.benchmarks.peers.jdbc;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

/** The pool of an application: a pool with a connection for each of the sixteen threads. */
final class Pool {
    private static final int CONNECTIONS = 16;

    private Pool() {}

    static HikariDataSource open(String url, String table) throws SQLException {
        HikariConfig settings = new HikariConfig();
        settings.setJdbcUrl(url);
        settings.setMaximumPoolSize(CONNECTIONS);
        HikariDataSource pool = new HikariDataSource(settings);
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(table);
        }
        return pool;
    }
}
