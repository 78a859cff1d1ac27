package dev.lockstep.benchmarks.contenders;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.lockstep.benchmarks.worker.Contender;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.UUID;

/** JDBC with two statements: one sets the owner of a row that has none, one removes it. Nobody waits. */
public final class SqlFloor implements Contender {
    private static final int CONNECTIONS = 16;
    private static final String TABLE =
            "CREATE TABLE IF NOT EXISTS floor_locks (name VARCHAR(200) PRIMARY KEY, owner VARCHAR(64))";
    private static final String INSERT = "INSERT INTO floor_locks (name) VALUES (?)";
    private static final String TAKE = "UPDATE floor_locks SET owner = ? WHERE name = ? AND owner IS NULL";
    private static final String GIVE = "UPDATE floor_locks SET owner = NULL WHERE owner = ? AND name = ?";

    /**
     * Makes it.
     *
     * @param variant there is none
     */
    public SqlFloor(String variant) {}

    @Override
    public Client open(String url) throws SQLException {
        HikariConfig settings = new HikariConfig();
        settings.setJdbcUrl(url);
        settings.setMaximumPoolSize(CONNECTIONS);
        HikariDataSource pool = new HikariDataSource(settings);
        execute(pool, TABLE);
        String owner = UUID.randomUUID().toString();
        return new Client() {
            @Override
            public Mutex mutex(String name) throws SQLException {
                execute(pool, INSERT, name);
                return new Mutex() {
                    @Override
                    public void lock() throws SQLException {
                        if (execute(pool, TAKE, owner, name) != 1) {
                            throw new IllegalStateException(name + " is held");
                        }
                    }

                    @Override
                    public void unlock() throws SQLException {
                        execute(pool, GIVE, owner, name);
                    }
                };
            }

            @Override
            public void close() {
                pool.close();
            }
        };
    }

    private static int execute(HikariDataSource pool, String sql, String... values) throws SQLException {
        try (Connection connection = pool.getConnection();
                PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < values.length; i++) {
                statement.setString(i + 1, values[i]);
            }
            return statement.executeUpdate();
        }
    }
}
