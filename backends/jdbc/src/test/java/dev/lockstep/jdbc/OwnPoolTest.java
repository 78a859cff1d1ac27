package dev.lockstep.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class OwnPoolTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    @Test
    void aConnectionThatComesWhenItsPoolIsClosedDoesNotStay() throws Exception {
        String url = "jdbc:h2:mem:";
        DataSource h2 = OwnPool.source(url, Dialects.ofUrl(url), PATIENCE);
        Queue<Connection> made = new ConcurrentLinkedQueue<>();
        CountDownLatch asked = new CountDownLatch(2);
        CountDownLatch slow = new CountDownLatch(1);
        DataSource source = HurtSource.proxy(DataSource.class, (self, method, arguments) -> {
            if (!method.getName().equals("getConnection")) {
                return HurtSource.invoke(h2, method, arguments);
            }
            asked.countDown();
            if (asked.getCount() == 0) {
                slow.await();
            }
            Connection connection = h2.getConnection();
            made.add(connection);
            return connection;
        });
        HikariDataSource pool = OwnPool.open(source, "test", 2, PATIENCE);
        Connection first = pool.getConnection();
        CompletableFuture<Connection> second = CompletableFuture.supplyAsync(() -> get(pool));
        assertThat(asked.await(20, TimeUnit.SECONDS)).isTrue();
        first.close();
        second.get(20, TimeUnit.SECONDS).close();
        pool.close();
        slow.countDown();
        Awaitility.await("it has come").atMost(PATIENCE).until(() -> made.size() == 2);
        Awaitility.await("none stays")
                .atMost(PATIENCE)
                .until(() -> made.stream().allMatch(OwnPoolTest::isClosed));
    }

    /** As Hikari does, with a NullPointerException, if it is closed while a connection of it is in use. */
    @Test
    void anAnswerCountsEvenIfItsConnectionCannotBeReturned() {
        String url = "jdbc:h2:mem:given-back;DB_CLOSE_DELAY=-1";
        DataSource h2 = OwnPool.source(url, Dialects.ofUrl(url), PATIENCE);
        AtomicBoolean spoilt = new AtomicBoolean();
        DataSource source = HurtSource.proxy(
                DataSource.class,
                (self, method, arguments) -> method.getName().equals("getConnection")
                        ? notToBeClosedIf(spoilt::get, h2.getConnection())
                        : HurtSource.invoke(h2, method, arguments));
        try (LockClient client = LockClient.builder()
                .backend(JdbcEngine.over(source).createSchema(true))
                .connect()) {
            spoilt.set(true);
            client.lock("order:42").lock();
            assertThat(client.inspect("order:42").holders()).hasSize(1);
            client.lock("order:42").unlock();
            assertThat(client.lock("order:42").tryLock()).isTrue();
        }
    }

    /** A pool aborts the connections that are in use when it is closed, which means nothing to H2's driver. */
    @Test
    void aConnectionThatIsInUseWhenItsClientIsClosedDoesNotStay() throws Exception {
        String url = "jdbc:h2:mem:in-use;DB_CLOSE_DELAY=-1";
        DataSource h2 = OwnPool.source(url, Dialects.ofUrl(url), PATIENCE);
        Queue<Connection> made = new ConcurrentLinkedQueue<>();
        AtomicBoolean slow = new AtomicBoolean();
        CountDownLatch underWay = new CountDownLatch(1);
        CountDownLatch answered = new CountDownLatch(1);
        DataSource source = HurtSource.proxy(DataSource.class, (self, method, arguments) -> {
            if (!method.getName().equals("getConnection")) {
                return HurtSource.invoke(h2, method, arguments);
            }
            Connection connection = h2.getConnection();
            made.add(connection);
            return HurtSource.proxy(Connection.class, (proxy, itsMethod, itsArguments) -> {
                if (itsMethod.getName().equals("prepareStatement") && slow.get()) {
                    underWay.countDown();
                    answered.await();
                }
                return HurtSource.invoke(connection, itsMethod, itsArguments);
            });
        });
        LockClient client = LockClient.builder()
                .backend(JdbcEngine.at(url).createSchema(true).driver(source))
                .requestTimeout(Duration.ofSeconds(5)) // close waits for it
                .connect();
        slow.set(true);
        client.lock("order:42").acquireAsync();
        assertThat(underWay.await(20, TimeUnit.SECONDS)).isTrue();
        client.close();
        answered.countDown();
        Awaitility.await("none stays")
                .atMost(PATIENCE)
                .until(() -> made.stream().allMatch(OwnPoolTest::isClosed));
    }

    @Test
    void anApplicationThatUsesUpItsConnectionsLosesNoLock() throws Exception {
        Duration ttl = Duration.ofSeconds(10);
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl("jdbc:h2:mem:used-up;DB_CLOSE_DELAY=-1");
        config.setMaximumPoolSize(5);
        config.setConnectionTimeout(250);
        List<Connection> used = new ArrayList<>();
        try (HikariDataSource source = new HikariDataSource(config);
                LockClient client = LockClient.builder()
                        .ttl(ttl)
                        .backend(JdbcEngine.over(source))
                        .connect()) {
            Lease held = client.lock("order:42").acquireAsync().get(20, TimeUnit.SECONDS);
            assertThatThrownBy(() -> {
                        while (true) {
                            used.add(source.getConnection());
                        }
                    })
                    .isInstanceOf(SQLException.class);
            TimeUnit.MILLISECONDS.sleep(ttl.plusSeconds(2).toMillis()); // what is shown is that nothing happens
            assertThat(held.isValid()).isTrue();
            for (Connection connection : used) {
                connection.close();
            }
            held.closeAsync().get(20, TimeUnit.SECONDS);
        }
    }

    /** Frameworks put data sources around the pool, to measure it or to open transactions late. */
    @Test
    void aSmallPoolBehindAWrapperLendsItsConnectionToRequests() throws Exception {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl("jdbc:h2:mem:wrapped;DB_CLOSE_DELAY=-1");
        config.setMaximumPoolSize(1);
        config.setConnectionTimeout(2_000);
        try (HikariDataSource pool = new HikariDataSource(config);
                LockClient client = LockClient.builder()
                        .backend(JdbcEngine.over(HurtSource.proxy(
                                DataSource.class,
                                (self, method, arguments) -> HurtSource.invoke(pool, method, arguments))))
                        .connect()) {
            client.lock("order:42").lock();
            assertThat(client.lock("order:43").tryLock()).isTrue();
            client.lock("order:42").unlock();
        }
    }

    @Test
    void aDataSourceThatDoesNotSayWhatItWrapsIsUsed() throws Exception {
        String url = "jdbc:h2:mem:unwilling;DB_CLOSE_DELAY=-1";
        DataSource h2 = OwnPool.source(url, Dialects.ofUrl(url), PATIENCE);
        DataSource source = HurtSource.proxy(DataSource.class, (self, method, arguments) -> {
            if (method.getName().equals("isWrapperFor")) {
                throw new SQLException("not supported");
            }
            return HurtSource.invoke(h2, method, arguments);
        });
        try (LockClient client =
                LockClient.builder().backend(JdbcEngine.over(source)).connect()) {
            assertThat(client.lock("order:42").tryLock()).isTrue();
        }
    }

    /** As a primary that has become a standby: its successor is found by a new connection only. */
    @Test
    void aReadOnlyConnectionIsReplaced(@TempDir Path folder) throws Exception {
        String url = "jdbc:sqlite:" + folder.resolve("locks.db");
        List<Connection> made = new CopyOnWriteArrayList<>();
        HurtSource source =
                new HurtSource(OwnPool.source(url, Dialects.ofUrl(url), PATIENCE), new AtomicLong(), PATIENCE);
        AtomicBoolean readOnly = new AtomicBoolean();
        source.before(sql -> {
            if (sql.startsWith("UPDATE lockstep_locks") && readOnly.get()) {
                ReleaseTest.<RuntimeException>sneak(new SQLException("attempt to write a readonly database", null, 8));
            }
        });
        DataSource watched = HurtSource.proxy(DataSource.class, (self, method, arguments) -> {
            Object result = HurtSource.invoke(source, method, arguments);
            if (result instanceof Connection connection) {
                made.add(connection);
                readOnly.set(made.size() == 1);
            }
            return result;
        });
        try (LockClient client = LockClient.builder()
                .backend(JdbcEngine.at(url).poolSize(1).driver(watched))
                .connect()) {
            readOnly.set(true);
            assertThat(client.lock("order:42").tryLock(20, TimeUnit.SECONDS)).isTrue();
            assertThat(made).hasSizeGreaterThan(1);
        }
    }

    private static Connection notToBeClosedIf(BooleanSupplier spoilt, Connection connection) {
        return HurtSource.proxy(Connection.class, (self, method, arguments) -> {
            Object result = HurtSource.invoke(connection, method, arguments);
            if (method.getName().equals("close") && spoilt.getAsBoolean()) {
                throw new NullPointerException("closed meanwhile");
            }
            return result;
        });
    }

    private static Connection get(DataSource source) {
        try {
            return source.getConnection();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static boolean isClosed(Connection connection) {
        try {
            return connection.isClosed();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
