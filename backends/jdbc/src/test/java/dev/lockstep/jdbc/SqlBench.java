package dev.lockstep.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.tck.BackendFixture;
import dev.lockstep.tck.LockContract;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import org.awaitility.Awaitility;

/** Equipment for tests on every SQL database: clients, connections beside them, and a gate that delays statements. */
abstract class SqlBench extends LockContract {
    static final Duration SHORT = Duration.ofSeconds(2);

    /** How many seconds a test waits for what must happen. */
    static final long SOON = 20;

    final String namespace = "sql-" + UUID.randomUUID();

    abstract SqlFixture.Database database();

    @Override
    protected final BackendFixture fixture() {
        return new SqlFixture(database());
    }

    final String url() {
        return database().url();
    }

    final String key(String name) {
        return new Keys(namespace).key(name);
    }

    final TestClient open() {
        return TestClient.open(url(), namespace);
    }

    final TestClient open(Duration ttl) {
        return TestClient.open(url(), namespace, ttl);
    }

    /** A connection beside the clients. */
    final Connection connect() throws SQLException {
        return OwnPool.source(url(), Dialects.ofUrl(url()), Duration.ofSeconds(10))
                .getConnection();
    }

    final long queryLong(String sql, String argument) throws SQLException {
        try (Connection connection = connect();
                PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, argument);
            try (ResultSet rows = statement.executeQuery()) {
                return rows.next() ? rows.getLong(1) : -1;
            }
        }
    }

    final int execute(String sql, String argument) throws SQLException {
        try (Connection connection = connect();
                PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, argument);
            return statement.executeUpdate();
        }
    }

    static void await(String what, Predicate<Void> condition) {
        Awaitility.await(what)
                .atMost(Duration.ofSeconds(SOON))
                .pollInterval(Duration.ofMillis(5))
                .until(() -> condition.test(null));
    }

    /**
     * Delays the next claim of a client on its way into the queue of a lock, after its transaction has begun and before
     * it commits.
     */
    Gate arrival(TestClient client, String name) throws Exception {
        return new Gate(client, sql -> sql.endsWith("COMMIT"));
    }

    /** Delays the next matching statement of a client until the gate is opened. */
    static class Gate {
        private final CountDownLatch reached = new CountDownLatch(1);
        private final CountDownLatch open = new CountDownLatch(1);

        Gate(TestClient client, String text) {
            this(client, sql -> sql.startsWith(text));
        }

        Gate(TestClient client, Predicate<String> which) {
            AtomicBoolean used = new AtomicBoolean();
            client.source().before(sql -> {
                if (which.test(sql) && used.compareAndSet(false, true)) {
                    reached.countDown();
                    try {
                        open.await(SOON, TimeUnit.SECONDS);
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                }
            });
        }

        void awaitReached() throws Exception {
            assertThat(reached.await(SOON, TimeUnit.SECONDS)).isTrue();
        }

        void letGo() throws Exception {
            open.countDown();
        }
    }
}
