package dev.lockstep.jdbc;

import static dev.lockstep.jdbc.SqlBench.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.DistributedLock;
import dev.lockstep.EngineInfo;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockLostException;
import dev.lockstep.LockOptions;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.servers.PgBouncer;
import dev.lockstep.servers.PostgresServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.SqlServer;
import dev.lockstep.servers.TcpProxy;
import dev.lockstep.tck.SecondProcess;
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
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

/** Features that only PostgreSQL has: notifications, poolers in between, standbys. */
@Tag("full")
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PostgresTest {
    private static final Duration TTL = Duration.ofSeconds(30);
    private static final String DISCONNECT =
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'lockstep'";

    @AutoClose
    private static PostgresServer server;

    private final String namespace = "pg-" + UUID.randomUUID();

    @BeforeAll
    static void startServer() {
        server = Servers.require(() -> PostgresServer.builder().start());
    }

    private static String url(SqlServer at, int port) {
        return ServerDatabase.withUser(at.jdbcUrl(port), SqlServer.USER, SqlServer.PASSWORD);
    }

    private TestClient open() {
        return TestClient.open(url(server, server.port()), namespace);
    }

    private static void execute(SqlServer at, String... statements) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url(at, at.port()));
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        }
    }

    private static void awaitWaiters(LockClient client, int count) {
        Awaitility.await("waiters")
                .atMost(Duration.ofSeconds(SOON))
                .pollInterval(Duration.ofMillis(5))
                .until(() -> client.inspect("a").waiters().size() == count);
    }

    private static <T> T get(CompletableFuture<T> future) throws Exception {
        return future.get(SOON, TimeUnit.SECONDS);
    }

    @Test
    void itReportsItsVersionAndTheCostOfASetting() {
        try (TestClient test = open()) {
            EngineInfo info = test.client().describe();
            assertThat(info.product()).isEqualTo("PostgreSQL");
            assertThat(info.version()).matches("\\d+.*");
            assertThat(info.clock()).isPresent();
            assertThat(info.guarantees()).anyMatch(line -> line.contains("NOTIFY"));
            assertThat(info.limits()).anyMatch(line -> line.endsWith("fsync = off."));
        }
    }

    /** As with a limit of threads: the driver needs one to connect. */
    @Test
    void aListenerThatFindsNoThreadToConnectTriesAgain() {
        try (TestClient test = open()) {
            assertThat(test.backend().isPushed()).isTrue();
            test.source().hurt(HurtSource.Fault.NO_THREAD);
            Awaitility.await()
                    .atMost(Duration.ofSeconds(SOON))
                    .until(() -> !test.backend().isPushed() && test.source().refused() > 1);
            test.source().hurt(HurtSource.Fault.NONE);
            Awaitility.await().atMost(Duration.ofSeconds(SOON)).until(test.backend()::isPushed);
        }
    }

    /** The contract cannot count what another process sends to a database; a trigger of the database can. */
    @Test
    void aResumedProcessDoesNotMakeUpForMissedRenewals() throws Exception {
        Duration ttl = Duration.ofMillis(1_500);
        try (SecondProcess other = SecondProcess.start(url(server, server.port()), namespace, ttl)) {
            execute(
                    server,
                    "CREATE SEQUENCE renewals",
                    "CREATE FUNCTION count_renewal() RETURNS trigger LANGUAGE plpgsql AS"
                            + " 'BEGIN PERFORM nextval(''renewals''); RETURN NULL; END'",
                    "CREATE TRIGGER renewals AFTER UPDATE ON lockstep_sessions FOR EACH STATEMENT EXECUTE FUNCTION"
                            + " count_renewal()");
            assertThat(other.ask("acquire a")).isEqualTo("ok");
            Awaitility.await("they are counted")
                    .atMost(Duration.ofSeconds(SOON))
                    .until(() -> renewals() > 1);
            other.pause();
            int ttls = 6;
            TimeUnit.MILLISECONDS.sleep(ttls * ttl.toMillis()); // what it misses is what is shown
            long before = renewals();
            long start = System.nanoTime();
            other.resume();
            assertThat(other.ask("valid a")).isEqualTo("false");
            TimeUnit.MILLISECONDS.sleep(300);
            long sent = renewals() - before;
            long due = (System.nanoTime() - start) / ttl.dividedBy(3).toNanos();
            assertThat(sent).isLessThan(ttls * 3 / 2 + due);
        } finally {
            execute(server, "DROP FUNCTION count_renewal CASCADE", "DROP SEQUENCE renewals");
        }
    }

    private static long renewals() throws SQLException {
        try (Connection connection = DriverManager.getConnection(url(server, server.port()));
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT last_value FROM renewals")) {
            rows.next();
            return rows.getLong(1);
        }
    }

    /** However long a request may take: a renewal on a connection that is silent is given up while there is time for another. */
    @Test
    void aSilentConnectionCostsNoLock() throws Exception {
        Duration ttl = Duration.ofSeconds(6);
        try (TcpProxy proxy = TcpProxy.to(server);
                LockClient client = LockClient.builder()
                        .url(url(server, proxy.port()) + "&lockstep.createSchema=true")
                        .namespace(namespace)
                        .ttl(ttl)
                        .requestTimeout(ttl.multipliedBy(3))
                        .connect();
                Lease held = client.lock("silent").acquire()) {
            proxy.dropReplyTo("UPDATE lockstep_sessions", ttl.multipliedBy(3)).get(60, TimeUnit.SECONDS);
            TimeUnit.MILLISECONDS.sleep(ttl.toMillis()); // what is shown is that time passes and nothing happens
            assertThat(held.isValid()).isTrue();
        }
    }

    @Nested
    class Notifications {
        @Test
        void aWaiterIsWokenByThemAndNotByItsLook() throws Exception {
            try (TestClient holder = open();
                    TestClient waiter = open()) {
                int looks = 0;
                for (int i = 0; i < 20; i++) {
                    Lease held = get(holder.client().lock("a").acquireAsync());
                    CompletableFuture<Lease> waiting = waiter.client().lock("a").acquireAsync();
                    awaitWaiters(holder.client(), 1);
                    waiter.sent();
                    get(held.closeAsync());
                    get(get(waiting).closeAsync());
                    looks += (int) waiter.sent().stream()
                            .filter(sql -> sql.startsWith("SELECT l.owner"))
                            .count();
                }
                assertThat(looks).isLessThan(5);
            }
        }

        @Test
        void aServedWaiterKnowsOfArrivalsAfterItsStatementHadBegun() throws Exception {
            try (TestClient holder = open();
                    TestClient waiter = open()) {
                Lease held = get(holder.client().lock("a").acquireAsync());
                CompletableFuture<Lease> waiting = waiter.client().lock("a").acquireAsync();
                awaitWaiters(holder.client(), 1);
                SqlBench.Gate serve = new SqlBench.Gate(waiter, "WITH served");
                get(held.closeAsync());
                serve.awaitReached();
                String key = new Keys(namespace).key("a");
                String session = holder.backend().sessions().current().id();
                try (Connection connection = DriverManager.getConnection(url(server, server.port()));
                        Statement statement = connection.createStatement()) {
                    connection.setAutoCommit(false);
                    statement.execute("INSERT INTO lockstep_claims (claim, name, ticket, shared, held, session) VALUES"
                            + " ('late', '" + key + "', 2, 0, 0, '" + session + "')");
                    statement.execute("UPDATE lockstep_locks SET tickets = 2 WHERE name = '" + key + "'");
                    serve.letGo();
                    Awaitility.await("it waits for the row")
                            .atMost(Duration.ofSeconds(SOON))
                            .until(() -> blocked("WITH served"));
                    connection.commit();
                }
                Lease lease = get(waiting);
                try (Connection connection = DriverManager.getConnection(url(server, server.port()));
                        Statement statement = connection.createStatement();
                        ResultSet rows =
                                statement.executeQuery("SELECT head FROM lockstep_locks WHERE name = '" + key + "'")) {
                    assertThat(rows.next()).isTrue();
                    assertThat(rows.getString(1)).isEqualTo("late");
                }
                execute(
                        server,
                        "DELETE FROM lockstep_claims WHERE claim = 'late'",
                        "UPDATE lockstep_locks SET head = NULL WHERE name = '" + key + "'");
                get(lease.closeAsync());
            }
        }

        private boolean blocked(String statement) throws SQLException {
            return PostgresContract.isBlocked(url(server, server.port()), statement);
        }

        @Test
        void withoutAWaiterNoNotificationIsSent() throws Exception {
            try (TestClient test = open();
                    Connection listening = DriverManager.getConnection(url(server, server.port()));
                    Statement statement = listening.createStatement()) {
                statement.execute(
                        "LISTEN \"" + PostgresPush.channel(test.backend().clientId()) + '"');
                for (int i = 0; i < 10; i++) {
                    test.client().lock("a").lock();
                    test.client().lock("a").unlock();
                }
                var heard = listening.unwrap(org.postgresql.PGConnection.class).getNotifications(200);
                assertThat(heard == null ? 0 : heard.length).isZero();
            }
        }

        @Test
        void oneConnectionForThemHoweverManyWait() throws Exception {
            try (TestClient holder = open();
                    TestClient waiter = open()) {
                List<Lease> held = new ArrayList<>();
                List<CompletableFuture<Lease>> waiting = new ArrayList<>();
                for (int i = 0; i < 40; i++) {
                    held.add(get(holder.client().lock("many-" + i).acquireAsync()));
                    waiting.add(waiter.client().lock("many-" + i).acquireAsync());
                }
                Awaitility.await()
                        .atMost(Duration.ofSeconds(SOON))
                        .until(() -> holder.client().list("many-").stream()
                                        .filter(lock -> !lock.waiters().isEmpty())
                                        .count()
                                == 40);
                try (Connection connection = DriverManager.getConnection(url(server, server.port()));
                        Statement statement = connection.createStatement();
                        ResultSet rows = statement.executeQuery("SELECT COUNT(*), COUNT(*) FILTER (WHERE query LIKE"
                                + " 'LISTEN%' OR query LIKE 'SELECT 1%') FROM pg_stat_activity WHERE application_name ="
                                + " 'lockstep'")) {
                    rows.next();
                    // Two clients: a pool of sixteen at most, the session's, and the one that listens.
                    assertThat(rows.getInt(1)).isLessThanOrEqualTo(2 * 18);
                }
                for (Lease lease : held) {
                    get(lease.closeAsync());
                }
                for (CompletableFuture<Lease> lease : waiting) {
                    get(get(lease).closeAsync());
                }
            }
        }

        @Test
        void whenTheirConnectionDropsWaitersPollAndThenTheyListenAgain() throws Exception {
            try (TestClient holder = open();
                    TestClient waiter = open()) {
                Lease held = get(holder.client().lock("a").acquireAsync());
                CompletableFuture<Lease> waiting = waiter.client().lock("a").acquireAsync();
                awaitWaiters(holder.client(), 1);
                execute(
                        server,
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN \"lockstep_"
                                + waiter.backend().clientId() + "\"%'");
                get(held.closeAsync());
                get(get(waiting).closeAsync());
                Awaitility.await("it listens again")
                        .atMost(Duration.ofSeconds(SOON))
                        .until(() -> waiter.backend().isPushed());
            }
        }

        @Test
        void withoutThemThereIsPolling() throws Exception {
            try (TestClient holder = open();
                    TestClient waiter =
                            TestClient.open(url(server, server.port()), namespace, TTL, locks -> locks.listen(false))) {
                assertThat(waiter.backend().traits().push()).isFalse();
                assertThatThrownBy(() -> waiter.client()
                                .lock("a", LockOptions.defaults().sticky(Duration.ofSeconds(1)))
                                .lock())
                        .isInstanceOf(LockConfigurationException.class);
                Lease held = get(holder.client().lock("a").acquireAsync());
                CompletableFuture<Lease> waiting = waiter.client().lock("a").acquireAsync();
                awaitWaiters(holder.client(), 1);
                get(held.closeAsync());
                get(get(waiting).closeAsync());
            }
        }
    }

    @Nested
    class Poolers {
        @Test
        void locksWorkThroughAPoolerInTransactionMode() throws Exception {
            try (PgBouncer pooler = Servers.require(() -> PgBouncer.inFrontOf(server));
                    TestClient one = TestClient.open(url(server, pooler.port()), namespace);
                    TestClient two = TestClient.open(url(server, pooler.port()), namespace);
                    TestClient direct = open()) {
                assertThat(one.backend().traits().push()).isFalse();
                assertThat(direct.backend().traits().push()).isTrue();
                Exercise exercise = new Exercise(List.of(one.client(), two.client(), direct.client()));
                exercise.run(200);
            }
        }

        @Test
        void aWaiterBehindThePoolerIsServed() throws Exception {
            try (PgBouncer pooler = Servers.require(() -> PgBouncer.inFrontOf(server));
                    TestClient direct = open();
                    TestClient pooled = TestClient.open(url(server, pooler.port()), namespace)) {
                Lease held = get(direct.client().lock("a").acquireAsync());
                CompletableFuture<Lease> waiting = pooled.client().lock("a").acquireAsync();
                awaitWaiters(direct.client(), 1);
                get(held.closeAsync());
                Lease lease = get(waiting);
                CompletableFuture<Lease> back = direct.client().lock("a").acquireAsync();
                awaitWaiters(direct.client(), 1);
                get(lease.closeAsync());
                get(get(back).closeAsync());
            }
        }
    }

    @Nested
    class Outages {
        @Test
        void locksSurviveACrashOfTheServerUnderLoad() throws Exception {
            try (PostgresServer crashing =
                            Servers.require(() -> PostgresServer.builder().start());
                    TestClient one = TestClient.open(url(crashing, crashing.port()), namespace);
                    TestClient two = TestClient.open(url(crashing, crashing.port()), namespace)) {
                Lease held = get(one.client().lock("held").acquireAsync());
                Exercise exercise = new Exercise(List.of(one.client(), two.client()));
                exercise.start();
                exercise.awaitProgress(50);
                crashing.kill();
                crashing.start();
                exercise.awaitProgress(50);
                crashing.restart();
                exercise.awaitProgress(50);
                exercise.stop();
                exercise.assertRight(150);
                assertThat(held.isValid()).isTrue();
                assertThat(two.client().lock("held").tryLock()).isFalse();
                get(held.closeAsync());
                assertThat(two.client().lock("held").tryLock()).isTrue();
                two.client().lock("held").unlock();
            }
        }

        @Test
        void aStandbyThatIsPromotedUnderLoadServesLocks() throws Exception {
            try (PostgresServer primary =
                            Servers.require(() -> PostgresServer.builder().start());
                    PostgresServer standby = primary.startStandby();
                    Failover failover = new Failover(primary, standby)) {
                // Commits wait for the standby, so that what was confirmed is there after the promotion.
                try (TestClient first = TestClient.open(url(primary, primary.port()), namespace)) {
                    assertThat(first.client().lock("a").tryLock()).isTrue();
                    first.client().lock("a").unlock();
                }
                assertThatThrownBy(() -> TestClient.open(url(standby, standby.port()), namespace))
                        .isInstanceOf(LockUnavailableException.class)
                        .hasMessageContaining("a standby");
                execute(primary, "ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()");
                execute(primary, "ALTER SYSTEM SET synchronous_commit = 'on'", "SELECT pg_reload_conf()");
                try (TestClient one = TestClient.open(failover.url(), namespace);
                        TestClient two = TestClient.open(failover.url(), namespace)) {
                    Lease held = get(one.client().lock("held").acquireAsync());
                    Exercise exercise = new Exercise(List.of(one.client(), two.client()));
                    exercise.start();
                    exercise.awaitProgress(50);
                    execute(standby, "SELECT 1");
                    failover.switchOver();
                    exercise.awaitProgress(50);
                    exercise.stop();
                    exercise.assertRight(100);
                    assertThat(two.client().lock("held").tryLock()).isFalse();
                    assertThat(held.isValid()).isTrue();
                    get(held.closeAsync());
                }
            }
        }

        @Test
        void tokensRiseEvenIfTheStandbyHadNotSeenTheLast() throws Exception {
            try (PostgresServer primary =
                            Servers.require(() -> PostgresServer.builder().start());
                    TcpProxy replication = TcpProxy.to(primary);
                    PostgresServer standby = primary.startStandby(replication.port())) {
                long last = 0;
                try (TestClient client = TestClient.open(url(primary, primary.port()), namespace)) {
                    client.client().lock("a").lock();
                    client.client().lock("a").unlock();
                    Awaitility.await()
                            .atMost(Duration.ofSeconds(SOON))
                            .ignoreExceptions()
                            .until(() -> hasRow(standby));
                    replication.blackHole();
                    for (int i = 0; i < 10; i++) {
                        try (Lease lease = client.client().lock("a").acquire()) {
                            last = lease.token();
                        }
                    }
                    primary.kill();
                    standby.promote();
                    client.source().hurt(HurtSource.Fault.CUT); // do not wait for the dead
                }
                try (TestClient client = TestClient.open(url(standby, standby.port()), namespace);
                        Lease lease = client.client().lock("a").acquire()) {
                    assertThat(lease.token()).isGreaterThan(last);
                }
            }
        }

        private boolean hasRow(PostgresServer at) throws SQLException {
            try (Connection connection = DriverManager.getConnection(url(at, at.port()));
                    Statement statement = connection.createStatement();
                    ResultSet rows = statement.executeQuery("SELECT 1 FROM lockstep_locks WHERE name LIKE 'pg-%'")) {
                return rows.next();
            }
        }

        @Test
        void aReadOnlyServerIsAnErrorAndNotBusy() throws Exception {
            try (TestClient test = TestClient.openGivingUpSoon(url(server, server.port()), namespace)) {
                DistributedLock lock = test.client().lock("a");
                lock.lock();
                lock.unlock();
                execute(server, "ALTER DATABASE lockstep SET default_transaction_read_only = on");
                assertThatThrownBy(() -> LockClient.builder()
                                .namespace(namespace)
                                .url(url(server, server.port()))
                                .connect())
                        .isInstanceOf(LockUnavailableException.class)
                        .hasMessageContaining("read-only");
                execute(server, DISCONNECT);
                assertThatThrownBy(lock::tryLock)
                        .isInstanceOf(LockUnavailableException.class)
                        .hasMessageContaining("'a'")
                        .hasMessageContaining("read-only");
                // In less time than the client needs to be sure that this lasts, whatever can be read meanwhile.
                for (Lock each : List.of(lock, test.client().readWriteLock("a").readLock())) {
                    CompletableFuture<Boolean> call =
                            CompletableFuture.supplyAsync(() -> isLocked(each, Duration.ofSeconds(2)));
                    Awaitility.await("an answer").atMost(SOON, TimeUnit.SECONDS).until(() -> {
                        test.client().inspect("a");
                        return call.isDone();
                    });
                    assertThatThrownBy(() -> get(call)).hasCauseInstanceOf(LockUnavailableException.class);
                }
                execute(
                        server,
                        "SET default_transaction_read_only = off",
                        "ALTER DATABASE lockstep RESET default_transaction_read_only");
                execute(server, DISCONNECT);
                assertThat(lock.tryLock(SOON, TimeUnit.SECONDS)).isTrue();
                lock.unlock();
            }
        }
    }

    private static boolean isLocked(Lock lock, Duration wait) {
        try {
            return lock.tryLock(wait.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void aServerThatWasReadOnlyUntilTheSessionExpiredIsAnErrorAndNotBusy() throws Exception {
        Duration ttl = Duration.ofSeconds(6); // a renewal that is not answered in a third of it proves nothing
        try (PostgresServer reading =
                        Servers.require(() -> PostgresServer.builder().start());
                TestClient test = TestClient.open(url(reading, reading.port()), namespace, ttl)) {
            DistributedLock lock = test.client().lock("a");
            lock.lock();
            lock.unlock();
            execute(reading, "ALTER DATABASE lockstep SET default_transaction_read_only = on", DISCONNECT);
            TimeUnit.MILLISECONDS.sleep(2 * ttl.toMillis());
            for (Executable call :
                    List.<Executable>of(lock::lock, lock::tryLock, () -> lock.tryLock(6, TimeUnit.SECONDS))) {
                assertThatThrownBy(call::execute)
                        .isInstanceOf(LockUnavailableException.class)
                        .hasMessageContaining("'a'")
                        .hasMessageContaining("read-only");
            }
            assertThatThrownBy(() -> lock.tryLock(2, TimeUnit.SECONDS)).isInstanceOf(LockUnavailableException.class);
            execute(
                    reading,
                    "SET default_transaction_read_only = off",
                    "ALTER DATABASE lockstep RESET default_transaction_read_only",
                    DISCONNECT);
            assertThat(lock.tryLock(SOON, TimeUnit.SECONDS)).isTrue();
            lock.unlock();
        }
    }

    /** The time in between, in which nothing is known, does not count as one of refusal. */
    @Test
    void aServerThatIsBrieflyReadOnlyTwiceIsWaitedFor() throws Exception {
        Duration ttl = Duration.ofSeconds(1);
        try (PostgresServer reading =
                        Servers.require(() -> PostgresServer.builder().start());
                TestClient test = TestClient.open(url(reading, reading.port()), namespace, ttl)) {
            Sessions sessions = test.backend().sessions();
            execute(reading, "ALTER DATABASE lockstep SET default_transaction_read_only = on", DISCONNECT);
            TimeUnit.MILLISECONDS.sleep(2 * ttl.toMillis()); // the test shows the state after the session has expired
            CompletableFuture<Optional<Lease>> call =
                    test.client().lock("a").tryAcquireAsync(Duration.ofSeconds(3 * SOON));
            Awaitility.await("it is refused").until(() -> sessions.trouble() != null);
            test.source().hurt(HurtSource.Fault.CUT);
            Awaitility.await("it is away").until(() -> sessions.trouble() == null);
            TimeUnit.SECONDS.sleep(4); // together with the times before, it is longer than the request timeout
            test.source().hurt(HurtSource.Fault.NONE);
            Awaitility.await("it is refused again")
                    .atMost(Duration.ofSeconds(SOON))
                    .until(() -> sessions.trouble() != null);
            execute(
                    reading,
                    "SET default_transaction_read_only = off",
                    "ALTER DATABASE lockstep RESET default_transaction_read_only",
                    DISCONNECT);
            assertThat(get(call)).isPresent();
        }
    }

    /** The lock is free, but no claim can be granted: reading its row must not make the call wait forever. */
    @Test
    void aLockThatOnlyLooksFreeIsNotWaitedForIndefinitely() throws Exception {
        try (TestClient holder = open();
                TestClient waiter = open();
                Connection other = DriverManager.getConnection(url(server, server.port()));
                Statement statement = other.createStatement()) {
            Lease held = get(holder.client().lock("a").acquireAsync());
            CompletableFuture<Lease> waiting = waiter.client().lock("a").acquireAsync();
            awaitWaiters(holder.client(), 1);
            CountDownLatch tries = new CountDownLatch(1);
            CountDownLatch locked = new CountDownLatch(1);
            waiter.source().before(sql -> {
                if (sql.startsWith("WITH served")) {
                    tries.countDown();
                    await(locked);
                }
            });
            get(held.closeAsync());
            assertThat(tries.await(SOON, TimeUnit.SECONDS)).isTrue();
            other.setAutoCommit(false);
            statement.execute("LOCK TABLE lockstep_sessions, lockstep_locks, lockstep_claims IN EXCLUSIVE MODE");
            locked.countDown();
            assertThatThrownBy(() -> get(waiting)).hasCauseInstanceOf(LockUnavailableException.class);
            other.rollback();
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            if (!latch.await(SOON, TimeUnit.SECONDS)) {
                throw new IllegalStateException("not released");
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void theLossOfAHoldIsReportedInTimeWhileTheServerIsFrozen() throws Exception {
        try (PostgresServer freezing =
                        Servers.require(() -> PostgresServer.builder().start());
                TestClient test = TestClient.open(url(freezing, freezing.port()), namespace, Duration.ofSeconds(2))) {
            Lease lease = get(test.client().lock("a").acquireAsync());
            CompletableFuture<Boolean> lost = new CompletableFuture<>();
            lease.onLost(reason -> lost.complete(true));
            freezing.pause();
            assertThat(lost.get(20, TimeUnit.SECONDS)).isTrue();
            freezing.resume();
            assertThatThrownBy(lease::close).isInstanceOf(LockLostException.class);
        }
    }
}
