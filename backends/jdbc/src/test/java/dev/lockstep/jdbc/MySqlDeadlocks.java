package dev.lockstep.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockOptions;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.servers.SqlServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;

/** Counts the deadlocks of InnoDB, which retries would hide, while sixteen threads fight for few names. */
final class MySqlDeadlocks {
    private static final int THREADS = 16;

    private MySqlDeadlocks() {}

    /**
     * Fights, and asserts that there was no deadlock.
     *
     * @param counter the query that counts them
     */
    static void assertNone(SqlServer server, String url, String counter) throws Exception {
        long before = count(server, counter);
        provokeOne(url);
        assertThat(count(server, counter) - before).as("the server counts them").isEqualTo(1);
        List<LockClient> clients = new ArrayList<>();
        Queue<Throwable> wrong = new ConcurrentLinkedQueue<>();
        List<Thread> threads = new ArrayList<>();
        try {
            for (int i = 0; i < 4; i++) {
                clients.add(LockClient.builder()
                        .namespace("deadlocks-" + System.nanoTime() / 1_000_000_000)
                        .backend(JdbcEngine.at(url).createSchema(true))
                        .connect());
            }
            for (int i = 0; i < THREADS; i++) {
                Random random = new Random(i);
                LockClient client = clients.get(i % clients.size());
                Thread thread = new Thread(() -> {
                    try {
                        fight(client, random);
                    } catch (Throwable e) {
                        wrong.add(e);
                    }
                });
                threads.add(thread);
                thread.start();
            }
            for (Thread thread : threads) {
                thread.join();
            }
        } finally {
            clients.forEach(LockClient::close);
        }
        assertThat(wrong).isEmpty();
        assertThat(count(server, counter) - before).isEqualTo(1);
    }

    /** Names that are seen for the first time, names that are known, and every kind of lock. */
    private static void fight(LockClient client, Random random) throws InterruptedException {
        for (int round = 0; round < 60; round++) {
            String name =
                    random.nextBoolean() ? "known-" + random.nextInt(3) : "new-" + round + "-" + random.nextInt(2);
            var lock = switch (random.nextInt(4)) {
                case 0 -> client.lock("fair-" + name, LockOptions.defaults().fair());
                case 1 -> client.readWriteLock(name).readLock();
                default -> client.lock(name);
            };
            Duration wait = random.nextInt(4) == 0 ? Duration.ofMillis(random.nextInt(5)) : Duration.ofSeconds(30);
            try {
                lock.tryAcquire(wait).ifPresent(Lease::close);
            } catch (LockUnavailableException e) {
                // The time was shorter than the way to the database and back.
            }
        }
    }

    /** Two transactions that wait for each other, so that the counter is known to count. */
    private static void provokeOne(String url) throws Exception {
        try (Connection one = DriverManager.getConnection(url);
                Connection two = DriverManager.getConnection(url);
                Statement first = one.createStatement();
                Statement second = two.createStatement()) {
            first.execute("CREATE TABLE IF NOT EXISTS deadlocks (id INT PRIMARY KEY)");
            first.execute("REPLACE INTO deadlocks VALUES (1), (2)");
            one.setAutoCommit(false);
            two.setAutoCommit(false);
            first.execute("SELECT * FROM deadlocks WHERE id = 1 FOR UPDATE");
            second.execute("SELECT * FROM deadlocks WHERE id = 2 FOR UPDATE");
            CompletableFuture<Boolean> crossed = CompletableFuture.supplyAsync(() -> fails(first, 2));
            boolean failed = fails(second, 1);
            assertThat(crossed.get(20, TimeUnit.SECONDS) || failed).isTrue();
        }
    }

    private static boolean fails(Statement statement, int id) {
        try {
            statement.execute("SELECT * FROM deadlocks WHERE id = " + id + " FOR UPDATE");
            return false;
        } catch (SQLException e) {
            return true;
        }
    }

    private static long count(SqlServer server, String query) throws SQLException {
        try (Connection connection = DriverManager.getConnection(server.jdbcUrl(), SqlServer.USER, SqlServer.PASSWORD);
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(query)) {
            rows.next();
            return rows.getLong(rows.getMetaData().getColumnCount());
        }
    }
}
