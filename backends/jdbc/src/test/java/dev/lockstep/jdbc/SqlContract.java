package dev.lockstep.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockOptions;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.servers.TcpProxy;
import dev.lockstep.tck.Capability;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** The contract, and what is to be shown on every SQL database beside it. */
abstract class SqlContract extends SqlWaitingContract {
    /** The statements that are sent to the database. */
    @Nested
    class Statements {
        @Test
        void anUncontendedPairIsTwoStatementsAndReentryNone() {
            try (TestClient test = open()) {
                DistributedLock lock = test.client().lock("a");
                lock.lock(); // makes the row
                lock.unlock();
                test.sent();
                lock.lock();
                assertThat(test.sent()).singleElement().asString().contains("UPDATE");
                lock.lock();
                lock.unlock();
                assertThat(test.sent()).isEmpty();
                lock.unlock();
                assertThat(test.sent()).singleElement().asString().contains("UPDATE");
            }
        }

        @Test
        void aSynchronousCallerSendsThemItselfWhereTheDriverLetsIt() {
            try (TestClient test = open()) {
                DistributedLock lock = test.client().lock("a");
                lock.lock();
                lock.unlock();
                Set<Thread> senders = ConcurrentHashMap.newKeySet();
                test.source().before(sql -> {
                    if (sql.contains("lockstep_locks") && !sql.contains("SELECT l.owner")) {
                        senders.add(Thread.currentThread());
                    }
                });
                lock.lock();
                lock.unlock();
                if (Dialects.ofUrl(url()).runsInCallerThread()) {
                    assertThat(senders).containsExactly(Thread.currentThread());
                } else {
                    assertThat(senders).isNotEmpty().doesNotContain(Thread.currentThread());
                }
            }
        }

        @Test
        void aPairOfAFairLockIsTwoStatementsToo() {
            try (TestClient test = open()) {
                DistributedLock lock =
                        test.client().lock("a", LockOptions.defaults().fair());
                lock.lock();
                lock.unlock();
                test.sent();
                lock.lock();
                lock.unlock();
                assertThat(test.sent()).hasSize(2);
            }
        }

        @Test
        void aPingIsAWriteThatChangesNothing() throws Exception {
            try (TestClient test = open()) {
                long before = test.backend().lastContactNanos();
                test.sent();
                test.backend().ping().toCompletableFuture().get(SOON, TimeUnit.SECONDS);
                assertThat(test.sent()).singleElement().asString().startsWith("UPDATE lockstep_sessions");
                assertThat(test.backend().lastContactNanos() - before).isPositive();
                String session = test.backend().sessions().current().id();
                boolean changed = test.call(link -> test.backend().store().ping(link, session));
                assertThat(changed).isFalse();
            }
        }

        /**
         * A lock that could not be taken at once need not be held by another client: it may be new, or its holder dead.
         */
        @Test
        void aLockIsNotCalledBusyBeforeItsRowWasRead() throws Exception {
            try (TestClient holder = open();
                    TestClient test = TestClient.openGivingUpSoon(url(), namespace)) {
                Lease held = holder.client().lock("a").acquireAsync().get(SOON, TimeUnit.SECONDS);
                Gate second = new Gate(test, sql -> sql.startsWith("SELECT l.owner") || sql.startsWith("WITH queued"));
                assertThatThrownBy(() -> test.client()
                                .lock("a")
                                .tryAcquireAsync(Duration.ofSeconds(5))
                                .get(SOON, TimeUnit.SECONDS))
                        .hasCauseInstanceOf(LockUnavailableException.class);
                second.awaitReached();
                second.letGo();
                held.closeAsync().get(SOON, TimeUnit.SECONDS);
            }
        }

        @Test
        void aWaiterArrivesAndIsServedInFewMessages() throws Exception {
            boolean one = database().capabilities().contains(Capability.PUSH);
            boolean together = Dialects.ofUrl(url()).sendsTogether(url());
            try (TestClient holder = open();
                    TestClient waiter = open()) {
                Lease held = holder.client().lock("a").acquireAsync().get(SOON, TimeUnit.SECONDS);
                waiter.sent();
                CompletableFuture<Lease> waiting = waiter.client().lock("a").acquireAsync();
                await(
                        "it waits",
                        unused -> holder.client().inspect("a").waiters().size() == 1);
                assertThat(ofLocks(waiter.sent())).hasSize(one ? 2 : together ? 3 : 5);
                held.closeAsync().get(SOON, TimeUnit.SECONDS);
                Lease lease = waiting.get(SOON, TimeUnit.SECONDS);
                assertThat(ofLocks(waiter.sent())).hasSizeBetween(1, one || together ? 1 : 4);
                lease.closeAsync().get(SOON, TimeUnit.SECONDS);
                assertThat(ofLocks(waiter.sent())).hasSize(1);
            }
        }

        /** The statements that change locks or begin to: without looks, and without those that keep sessions alive. */
        private List<String> ofLocks(List<String> statements) {
            return statements.stream()
                    .filter(sql -> sql.contains("lockstep_locks") || sql.contains("lockstep_claims"))
                    .filter(sql -> !sql.startsWith("SELECT l.owner"))
                    .toList();
        }

        @Test
        void manyLocksAreRenewedByOneStatement() throws Exception {
            try (TestClient test = open(Duration.ofSeconds(12))) {
                List<CompletableFuture<Lease>> leases = new ArrayList<>();
                for (int i = 0; i < locks(); i++) {
                    leases.add(test.client().lock("held-" + i).acquireAsync());
                }
                for (CompletableFuture<Lease> lease : leases) {
                    lease.get(3 * SOON, TimeUnit.SECONDS);
                }
                test.sent();
                long start = System.nanoTime();
                List<String> renewals = new ArrayList<>();
                await("two renewals", unused -> {
                    renewals.addAll(test.sent());
                    return renewals.stream().filter(this::isRenewal).count() >= 2;
                });
                Duration passed = Duration.ofNanos(System.nanoTime() - start);
                assertThat(passed).isGreaterThan(Duration.ofSeconds(2));
                // One each four seconds, and one that was due; beside them at most a sweep, if it is this client's
                // turn.
                assertThat(renewals.stream().filter(this::isRenewal).count())
                        .isLessThanOrEqualTo(2 + passed.toSeconds() / 4);
                assertThat(renewals.stream().filter(sql -> !isRenewal(sql))).hasSizeLessThan(locks() / 10);
                for (CompletableFuture<Lease> lease : leases) {
                    assertThat(lease.get().isValid()).isTrue();
                }
            }
        }

        private boolean isRenewal(String sql) {
            return sql.contains("SET expires");
        }

        /** Ten thousand where they are soon taken. */
        private int locks() {
            return url().startsWith("jdbc:sqlite") ? 10_000 : 300;
        }

        @Test
        void noTimeOfTheClientIsSent() throws Exception {
            List<Long> numbers = new ArrayList<>();
            try (TestClient test = open(Duration.ofSeconds(12))) {
                test.source().numbers(numbers::add);
                DistributedLock lock = test.client().lock("a");
                lock.lock();
                test.client().readWriteLock("b").readLock().lock();
                await("a renewal", unused -> test.sent().stream().anyMatch(sql -> sql.contains("SET expires")));
                lock.unlock();
                test.client().readWriteLock("b").readLock().unlock();
            }
            // Any clock of the last ten years, in whatever unit, is beyond this; pids, ttls and tickets are below. A
            // client
            // that cleans up also says how long a name has to be idle.
            long idle = Settings.DEFAULTS.idleNames().toNanos() / 1_000;
            assertThat(numbers).isNotEmpty().allMatch(number -> number < 1_000_000_000L || number == idle);
        }
    }

    /** Connections that others have set up. */
    @Nested
    class DataSources {
        private HikariDataSource pool(int size) {
            HikariConfig config = new HikariConfig();
            config.setDataSource(OwnPool.source(url(), Dialects.ofUrl(url()), Duration.ofSeconds(20)));
            config.setMaximumPoolSize(size);
            config.setAutoCommit(false);
            config.setTransactionIsolation("TRANSACTION_SERIALIZABLE");
            return new HikariDataSource(config);
        }

        private LockClient over(DataSource source) {
            return LockClient.builder()
                    .namespace(namespace)
                    .backend(JdbcEngine.over(source).createSchema(true))
                    .connect();
        }

        @Test
        void aPoolWithoutAutoCommitAndWithSerializableTransactionsWillDo() throws Exception {
            try (HikariDataSource pool = pool(6);
                    LockClient one = over(pool);
                    LockClient two = over(pool)) {
                Exercise exercise = new Exercise(List.of(one, two));
                exercise.run(50);
                try (Connection connection = pool.getConnection()) {
                    assertThat(connection.getAutoCommit()).isFalse();
                    assertThat(connection.getTransactionIsolation()).isEqualTo(Connection.TRANSACTION_SERIALIZABLE);
                }
            }
        }

        /** It says why it lost connections before, in words of the driver that are those for a wrong statement. */
        @Test
        void aPoolThatHasLostItsConnectionsIsNotWronglySetUp() throws Exception {
            assumeTrue(database() instanceof ServerDatabase, "only a server can be away");
            try (TcpProxy proxy = TcpProxy.to(database().port());
                    HikariDataSource pool = impatientPool(database().url(proxy.port()));
                    LockClient client = over(pool)) {
                DistributedLock lock = client.lock("a");
                assertThat(lock.tryLock()).isTrue();
                lock.unlock();
                TimeUnit.MILLISECONDS.sleep(600); // the pool looks at a connection before it lends it again after 500
                proxy.resetConnections();
                proxy.stall(TcpProxy.Direction.REPLIES);
                assertThatThrownBy(lock::tryLock).isInstanceOf(LockUnavailableException.class);
                assertThatThrownBy(() -> over(pool)).isInstanceOf(LockUnavailableException.class);
                proxy.heal();
                assertThat(lock.tryLock(SOON, TimeUnit.SECONDS)).isTrue();
                lock.unlock();
            }
        }

        /** Gives up long before its driver does, and before the request timeout. */
        private HikariDataSource impatientPool(String url) {
            HikariConfig config = new HikariConfig();
            config.setDataSource(OwnPool.source(url, Dialects.ofUrl(url), Duration.ofSeconds(30)));
            config.setMaximumPoolSize(2);
            config.setConnectionTimeout(2_000);
            config.setValidationTimeout(1_500);
            return new HikariDataSource(config);
        }

        @Test
        void noConnectionIsKeptForALockOrAWaiter() throws Exception {
            int listening = database().capabilities().contains(Capability.PUSH) ? 1 : 0;
            try (HikariDataSource pool = pool(4 + 2 * listening);
                    LockClient holder = over(pool);
                    LockClient waiter = over(pool)) {
                List<Lease> held = new ArrayList<>();
                List<CompletableFuture<Lease>> waiting = new ArrayList<>();
                for (int i = 0; i < 10; i++) {
                    held.add(holder.lock("many-" + i).acquireAsync().get(SOON, TimeUnit.SECONDS));
                    waiting.add(waiter.lock("many-" + i).acquireAsync());
                }
                await(
                        "all wait",
                        unused -> holder.list("many-").stream()
                                        .filter(lock -> lock.waiters().size() == 1)
                                        .count()
                                == 10);
                for (Lease lease : held) {
                    lease.closeAsync().get(SOON, TimeUnit.SECONDS);
                }
                for (CompletableFuture<Lease> lease : waiting) {
                    lease.get(SOON, TimeUnit.SECONDS).closeAsync().get(SOON, TimeUnit.SECONDS);
                }
            }
        }

        @Test
        void aTransactionOfTheCallerIsNotJoined() throws Exception {
            try (HikariDataSource pool = pool(6);
                    LockClient client = over(pool);
                    LockClient rival = over(pool)) {
                client.lock("a").lock();
                client.lock("a").unlock();
                if (!url().startsWith("jdbc:sqlite")) { // where a transaction of the caller keeps everybody out
                    try (Connection mine = pool.getConnection();
                            PreparedStatement statement =
                                    mine.prepareStatement("DELETE FROM lockstep_sessions WHERE id = ?")) {
                        statement.setString(1, "nobody");
                        statement.executeUpdate();
                        client.lock("a").lock();
                        mine.rollback();
                    }
                    assertThat(rival.lock("a").tryLock()).isFalse();
                    client.lock("a").unlock();
                }
            }
        }
    }

    /** The tables. */
    @Nested
    class Tables {
        @Test
        void missingTablesAreNamedWithTheWayToMakeThem() {
            assertThatThrownBy(() -> LockClient.builder()
                            .backend(
                                    JdbcEngine.at(url()).tablePrefix("missing_").createSchema(false))
                            .connect())
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining("missing_locks")
                    .hasMessageContaining("createSchema")
                    .hasMessageContaining(".sql");
        }

        @Test
        void tablesOfAnotherPrefixAreOtherLocks() {
            try (LockClient usual = LockClient.builder()
                            .namespace(namespace)
                            .backend(JdbcEngine.at(url()).createSchema(true))
                            .connect();
                    LockClient other = LockClient.builder()
                            .namespace(namespace)
                            .backend(JdbcEngine.at(url()).tablePrefix("other_").createSchema(true))
                            .connect()) {
                assertThat(usual.lock("a").tryLock()).isTrue();
                assertThat(other.lock("a").tryLock()).isTrue();
                usual.lock("a").unlock();
                other.lock("a").unlock();
            }
        }

        @Test
        void manyClientsMakeThemAtOnce() throws Exception {
            String prefix = "t" + Long.toHexString(System.nanoTime()) + "_";
            List<CompletableFuture<LockClient>> opening = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                opening.add(CompletableFuture.supplyAsync(() -> LockClient.builder()
                        .backend(JdbcEngine.at(url()).tablePrefix(prefix).createSchema(true))
                        .connect()));
            }
            for (CompletableFuture<LockClient> client : opening) {
                client.get(60, TimeUnit.SECONDS).close();
            }
        }
    }
}
