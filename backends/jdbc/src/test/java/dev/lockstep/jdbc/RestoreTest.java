package dev.lockstep.jdbc;

import static dev.lockstep.jdbc.SqlBench.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Lease;
import dev.lockstep.LockLostException;
import dev.lockstep.LockOptions;
import dev.lockstep.LossReason;
import dev.lockstep.Permit;
import dev.lockstep.servers.MySqlServer;
import dev.lockstep.servers.PostgresServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.SqlServer;
import dev.lockstep.servers.TcpProxy;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A database that goes back to an earlier state under live clients: a crash or a promotion that lost commits. */
@Tag("full")
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RestoreTest {
    /** A hold must survive the copying of all tables, which took three seconds beside the other contracts. */
    private static final Duration TTL = Duration.ofSeconds(9);

    /** A renewal comes in a third of the ttl, and a busy machine has as much again. */
    private static final Duration NOTICED = TTL.multipliedBy(2).dividedBy(3);

    private static final List<String> TABLES = List.of("lockstep_sessions", "lockstep_locks", "lockstep_claims");

    private enum Database {
        POSTGRES,
        MYSQL,
        MARIADB,
        SQLITE
    }

    @TempDir
    static Path folder;

    @AutoClose
    private static PostgresServer postgres;

    @AutoClose
    private static MySqlServer mySql;

    @AutoClose
    private static MySqlServer mariaDb;

    private final String namespace = "restore-" + UUID.randomUUID();

    @BeforeAll
    static void startServers() throws SQLException {
        postgres = Servers.require(() -> PostgresServer.builder().start());
        mySql = Servers.require(() -> MySqlServer.builder().start());
        mariaDb = Servers.require(() -> MySqlServer.mariaDb().start());
        // Its driver takes passwords from URLs as they are, so one with an ampersand has no place there.
        try (Connection connection =
                        DriverManager.getConnection(mariaDb.jdbcUrl(), SqlServer.USER, SqlServer.PASSWORD);
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE USER restore IDENTIFIED BY 'restore'");
            statement.execute("GRANT ALL ON *.* TO restore");
        }
    }

    private static String url(Database database) {
        return switch (database) {
            case POSTGRES -> url(postgres, postgres.port());
            case MYSQL -> url(mySql, mySql.port());
            case MARIADB -> ServerDatabase.withUser(mariaDb.jdbcUrl(), "restore", "restore");
            case SQLITE -> "jdbc:sqlite:" + folder.resolve("locks.db");
        };
    }

    private static String url(SqlServer at, int port) {
        return ServerDatabase.withUser(at.jdbcUrl(port), SqlServer.USER, SqlServer.PASSWORD);
    }

    private TestClient open(Database database) {
        return TestClient.open(url(database), namespace, TTL);
    }

    private static void execute(Database database, List<String> statements) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url(database));
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            for (String sql : statements) {
                statement.execute(sql);
            }
            connection.commit();
        }
    }

    private static void backUp(Database database) throws SQLException {
        execute(
                database,
                TABLES.stream()
                        .flatMap(table -> List.of(
                                "DROP TABLE IF EXISTS old_" + table,
                                "CREATE TABLE old_" + table + " AS SELECT * FROM " + table)
                                .stream())
                        .toList());
    }

    private static void restore(Database database) throws SQLException {
        execute(
                database,
                TABLES.stream()
                        .flatMap(table ->
                                List.of("DELETE FROM " + table, "INSERT INTO " + table + " SELECT * FROM old_" + table)
                                        .stream())
                        .toList());
    }

    private static <T> T get(CompletableFuture<T> future) throws Exception {
        return future.get(SOON, TimeUnit.SECONDS);
    }

    private static Lease take(TestClient client, String name) throws Exception {
        return get(client.client().lock(name).acquireAsync());
    }

    private static void release(Lease lease) throws Exception {
        get(lease.closeAsync());
    }

    private static void assertFreeSoon(TestClient rival, String name, LockOptions options) throws Exception {
        Optional<Lease> lease = rival.client().lock(name, options).tryAcquire(NOTICED);
        assertThat(lease).isPresent();
        release(lease.orElseThrow());
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    void aReleaseThatWasForgottenIsRepeated(Database database) throws Exception {
        try (TestClient client = open(database);
                TestClient rival = open(database)) {
            Lease first = take(client, "a");
            Lease kept = take(client, "kept");
            backUp(database);
            release(first);
            release(take(client, "a")); // its last claim is another one than that of the earlier state
            restore(database);
            assertThat(rival.client().lock("a").tryLock()).isFalse();
            assertFreeSoon(rival, "a", LockOptions.defaults());
            assertThat(kept.isValid()).isTrue();
            assertThat(rival.client().lock("kept").tryLock()).isFalse();
            release(kept);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    void aReadersReleaseAndAWithdrawalThatWereForgottenAreRepeated(Database database) throws Exception {
        LockOptions fair = LockOptions.defaults().fair();
        try (TestClient reader = open(database);
                TestClient waiter = open(database);
                TestClient rival = open(database)) {
            Lease shared =
                    get(reader.client().readWriteLock("a", fair).readLock().acquireAsync());
            CompletableFuture<Lease> waiting =
                    waiter.client().readWriteLock("a", fair).writeLock().acquireAsync();
            Awaitility.await("it waits")
                    .until(() -> rival.client().inspect("a").waiters().size() == 1);
            backUp(database);
            waiting.cancel(false);
            release(shared);
            Awaitility.await("it has left").until(() -> {
                var info = rival.client().inspect("a");
                return info.waiters().isEmpty() && info.holders().isEmpty();
            });
            restore(database);
            assertFreeSoon(rival, "a", fair);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    void permitsAreComparedAsLocksAre(Database database) throws Exception {
        try (TestClient client = open(database);
                TestClient rival = open(database)) {
            Permit released = client.client().semaphore("a", 2).acquire();
            backUp(database);
            released.close();
            Permit taken = client.client().semaphore("a", 2).acquire(2);
            restore(database);
            Awaitility.await("the forgotten permits are lost").atMost(NOTICED).until(() -> !taken.isValid());
            Optional<Permit> all = rival.client().semaphore("a", 2).tryAcquire(2, NOTICED);
            assertThat(all).as("the release is repeated").isPresent();
            assertThat(all.orElseThrow().token()).isGreaterThan(taken.token());
            all.orElseThrow().close();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    void aHolderWhoseTakeWasForgottenIsNotified(Database database) throws Exception {
        try (TestClient client = open(database);
                TestClient rival = open(database)) {
            release(take(client, "a"));
            release(get(client.client().readWriteLock("shared").readLock().acquireAsync()));
            backUp(database);
            Lease exclusive = take(client, "a");
            Lease shared =
                    get(client.client().readWriteLock("shared").readLock().acquireAsync());
            long token = exclusive.token();
            CompletableFuture<LossReason> lost = new CompletableFuture<>();
            exclusive.onLost(lost::complete);
            CompletableFuture<LossReason> sharedLost = new CompletableFuture<>();
            shared.onLost(sharedLost::complete);
            restore(database);
            Lease next = take(rival, "a");
            assertThat(lost.get(NOTICED.toMillis(), TimeUnit.MILLISECONDS)).isEqualTo(LossReason.REVOKED);
            assertThat(sharedLost.get(NOTICED.toMillis(), TimeUnit.MILLISECONDS))
                    .isEqualTo(LossReason.REVOKED);
            assertThatThrownBy(exclusive::ensureValid).isInstanceOf(LockLostException.class);
            assertThat(next.isValid()).isTrue();
            assertThat(next.token()).isGreaterThan(token);
            release(next);
        }
    }

    /** As after an outage: no client has the session in which it was granted any more. */
    @ParameterizedTest
    @EnumSource(Database.class)
    void aSessionThatHasExpiredIsNotRevived(Database database) throws Exception {
        try (TestClient client = open(database);
                TestClient rival = open(database)) {
            Lease lease = take(client, "a");
            CompletableFuture<LossReason> lost = new CompletableFuture<>();
            lease.onLost(lost::complete);
            String session = client.backend().sessions().current().id();
            execute(database, List.of("UPDATE lockstep_sessions SET expires = 0 WHERE id = '" + session + "'"));
            assertThat(lost.get(NOTICED.toMillis(), TimeUnit.MILLISECONDS)).isEqualTo(LossReason.SESSION_ENDED);
            assertThat(rival.client().lock("a").tryLock()).isTrue();
            rival.client().lock("a").unlock();
            release(take(client, "b"));
        }
    }

    /** Many names are compared in several requests, and none of them is taken for lost. */
    @Test
    void aCorrectRowIsNeitherFreedNorLost() throws Exception {
        try (TestClient client = open(Database.SQLITE)) {
            List<Lease> leases = new ArrayList<>();
            for (int i = 0; i < 1_200; i++) {
                leases.add(take(client, "many-" + i));
            }
            client.sent();
            Awaitility.await("all were compared")
                    .atMost(Duration.ofSeconds(SOON))
                    .until(() -> client.sent().stream()
                                    .filter(sql -> sql.startsWith("SELECT name, owner"))
                                    .count()
                            >= 3);
            for (Lease lease : leases) {
                assertThat(lease.isValid()).isTrue();
                release(lease);
            }
        }
    }

    @Test
    void changesThatAnAsynchronousStandbyMissedAreReconciled() throws Exception {
        Duration ttl = Duration.ofSeconds(12);
        try (PostgresServer primary =
                        Servers.require(() -> PostgresServer.builder().start());
                TcpProxy replication = TcpProxy.to(primary);
                PostgresServer standby = primary.startStandby(replication.port());
                Failover failover = new Failover(primary, standby)) {
            try (TestClient client = TestClient.open(failover.url(), namespace, ttl);
                    TestClient rival = TestClient.open(failover.url(), namespace, ttl)) {
                Lease released = take(client, "released");
                release(take(client, "taken"));
                release(take(client, "seen"));
                Awaitility.await("the standby has seen all")
                        .atMost(Duration.ofSeconds(SOON))
                        .ignoreExceptions()
                        .until(() -> hasRow(standby, new Keys(namespace).key("seen")));
                replication.blackHole();
                release(released);
                Lease taken = take(client, "taken");
                failover.switchOver();
                Lease next = get(rival.client().lock("released").acquireAsync());
                Awaitility.await("the holder is notified")
                        .atMost(ttl.dividedBy(2))
                        .until(() -> !taken.isValid());
                release(next);
                release(take(rival, "taken"));
            }
        }
    }

    private static boolean hasRow(PostgresServer at, String key) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url(at, at.port()));
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(
                        "SELECT 1 FROM lockstep_locks WHERE owner IS NULL AND name = '" + key + "'")) {
            return rows.next();
        }
    }

    @Test
    void onlyTheReleaseDoesNotWaitForTheDisk() throws Exception {
        try (TestClient client = open(Database.POSTGRES);
                TestClient rival = open(Database.POSTGRES)) {
            Lease lease = take(client, "disk");
            CompletableFuture<Lease> waiting = rival.client().lock("disk").acquireAsync();
            Awaitility.await()
                    .atMost(Duration.ofSeconds(20))
                    .until(() -> rival.client().inspect("disk").waiters().size() == 1);
            assertThat(client.sent()).noneMatch(sql -> sql.contains("synchronous_commit', 'off'"));

            release(lease);
            release(get(waiting));

            assertThat(client.sent())
                    .filteredOn(sql -> sql.contains("synchronous_commit', 'off'"))
                    .singleElement()
                    .asString()
                    .startsWith("UPDATE lockstep_locks SET owner = NULL");
            assertThat(rival.sent())
                    .filteredOn(sql -> sql.contains("synchronous_commit', 'off'"))
                    .hasSize(1);
        }
    }

    /** PostgreSQL writes what does not wait for the disk some time later, here so late that the crash comes first. */
    @Test
    void aReleaseThatTheServerLostInACrashIsRepeated() throws Exception {
        try (PostgresServer crashing = Servers.require(() -> PostgresServer.builder()
                        .setting("wal_writer_delay", "10s")
                        .start());
                TestClient client = TestClient.open(url(crashing, crashing.port()), namespace, TTL);
                TestClient rival = TestClient.open(url(crashing, crashing.port()), namespace, TTL)) {
            release(take(rival, "other"));
            Lease kept = take(client, "kept");
            Lease first = take(client, "a");
            long token = first.token();
            release(first);
            crashing.kill();
            crashing.start();
            assertThat(owners(crashing)).as("the server lost the release").contains("a");

            CompletableFuture<Lease> one = client.client().lock("a").acquireAsync();
            CompletableFuture<Lease> two = rival.client().lock("a").acquireAsync();
            Lease earlier = get(CompletableFuture.anyOf(one, two).thenApply(Lease.class::cast));
            assertThat(earlier.token()).isGreaterThan(token);
            long earlierToken = earlier.token();
            assertThat(one.isDone() && two.isDone()).as("two holders").isFalse();
            release(earlier);
            Lease later = get(one.thenCombine(two, (a, b) -> a == earlier ? b : a));
            assertThat(later.token()).isGreaterThan(earlierToken);
            release(later);
            assertThat(kept.isValid()).isTrue();
            release(kept);
        }
    }

    private static List<String> owners(SqlServer at) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url(at, at.port()));
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT name FROM lockstep_locks WHERE owner IS NOT NULL")) {
            List<String> names = new ArrayList<>();
            while (rows.next()) {
                names.add(rows.getString(1).replaceFirst(".*[:/]", ""));
            }
            return names;
        }
    }
}
