package dev.lockstep.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockOptions;
import dev.lockstep.LossReason;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Races between statements of several clients, and the rows that clients leave behind. */
abstract class SqlRaceContract extends SqlBench {
    /** Races that have broken locks in tables, with the window held open. */
    @Nested
    class WidenedRaces {
        @Test
        void aRenewalThatCommitsLateIsNotOverlooked() throws Exception {
            try (TestClient holder = open(SHORT);
                    TestClient rival = open()) {
                Lease lease = holder.client().lock("a").acquireAsync().get(SOON, TimeUnit.SECONDS);
                assertThat(lease.isValid()).isTrue();
                String session = holder.backend().sessions().current().id();
                holder.source().hurt(HurtSource.Fault.CUT); // its own renewals stop, and this is the last of them
                try (Connection connection = connect()) {
                    connection.setAutoCommit(false);
                    try (PreparedStatement renewal = connection.prepareStatement(
                            "UPDATE lockstep_sessions SET expires = expires + 60000000 WHERE id = ?")) {
                        renewal.setString(1, session);
                        assertThat(renewal.executeUpdate()).isEqualTo(1);
                    }
                    // The committed state says that the session has expired; the change on its way says that it has
                    // not.
                    Awaitility.await().pollDelay(SHORT.plusMillis(200)).until(() -> true);
                    CompletableFuture<Boolean> taken = CompletableFuture.supplyAsync(() -> {
                        boolean got = rival.client().lock("a").tryLock();
                        return got;
                    });
                    Awaitility.await().pollDelay(Duration.ofMillis(300)).until(() -> true);
                    connection.commit();
                    assertThat(taken.get(SOON, TimeUnit.SECONDS)).isFalse();
                }
                assertThat(queryLong("SELECT COUNT(*) FROM lockstep_sessions WHERE id = ?", session))
                        .isEqualTo(1);
                execute("DELETE FROM lockstep_sessions WHERE id = ?", session);
                holder.source().hurt(HurtSource.Fault.NONE);
            }
        }

        @Test
        void anEvictionDoesNotTouchWhatItsClaimHoldsInANewSession() throws Exception {
            try (TestClient holder = open();
                    TestClient rival = open()) {
                String old = holder.backend().sessions().current().id();
                Lease lease = holder.client().lock("a").acquireAsync().get(SOON, TimeUnit.SECONDS);
                // The same claim now holds the lock in another session that is alive, as after a retry.
                execute("DELETE FROM lockstep_sessions WHERE id = ?", old);
                String alive = rival.backend().sessions().current().id();
                execute("UPDATE lockstep_locks SET session = '" + alive + "' WHERE name = ?", key("a"));
                assertThat((Boolean) rival.call(link -> rival.backend().store().evict(link, key("a"), old)))
                        .isTrue();
                assertThat(queryLong(
                                "SELECT COUNT(*) FROM lockstep_locks WHERE owner IS NOT NULL AND name = ?", key("a")))
                        .isEqualTo(1);
                assertThat(lease.lockName()).isEqualTo("a");
            }
        }

        @Test
        void aGrantThatComesAfterTheWithdrawalIsNotKept() throws Exception {
            try (TestClient test = open()) {
                test.client().lock("a").lock();
                test.client().lock("a").unlock();
                Gate take = new Gate(test, sql -> sql.contains("owner = ?"));
                CompletableFuture<Lease> cancelled = test.client().lock("a").acquireAsync();
                take.awaitReached();
                cancelled.cancel(true);
                take.letGo();
                // The next claim of the name is sent when the withdrawal is confirmed.
                test.client()
                        .lock("a")
                        .acquireAsync()
                        .get(SOON, TimeUnit.SECONDS)
                        .close();
                assertThat(test.client().inspect("a").holders()).isEmpty();
            }
        }

        /** The database counts the ttl from the moment at which it makes the row, which may be long before its answer. */
        @Test
        void aSessionThatIsConfirmedLateIsValidNoLonger() throws Exception {
            try (TestClient client = open()) {
                Sessions sessions = client.backend().sessions();
                Session first = sessions.current();
                Gate opening = new Gate(client, "INSERT INTO lockstep_sessions");
                first.signalLost(LossReason.SESSION_ENDED); // so that it opens another
                opening.awaitReached();
                long asked = System.nanoTime();
                Awaitility.await().pollDelay(Duration.ofMillis(500)).until(() -> true);
                opening.letGo();
                await("another session", unused -> sessions.current() != first);
                assertThat(sessions.current().validUntilNanos() - asked)
                        .isLessThanOrEqualTo(client.backend().requests().ttlNanos());
            }
        }

        @Test
        void twoThatArriveAtOnceAreServedInTheOrderOfTheirCommits() throws Exception {
            LockOptions fair = LockOptions.defaults().fair();
            try (TestClient holder = open();
                    TestClient first = open();
                    TestClient second = open()) {
                Lease held = holder.client().lock("a", fair).acquireAsync().get(SOON, TimeUnit.SECONDS);
                Gate commit = arrival(first, "a");
                CompletableFuture<Lease> one = first.client().lock("a", fair).acquireAsync();
                commit.awaitReached();
                CompletableFuture<Lease> two = second.client().lock("a", fair).acquireAsync();
                Awaitility.await().pollDelay(Duration.ofMillis(300)).until(() -> true);
                commit.letGo();
                await(
                        "both wait",
                        unused -> holder.client().inspect("a").waiters().size() == 2);
                held.closeAsync().get(SOON, TimeUnit.SECONDS);
                Lease got = one.get(SOON, TimeUnit.SECONDS);
                assertThat(two).isNotDone();
                got.closeAsync().get(SOON, TimeUnit.SECONDS);
                two.get(SOON, TimeUnit.SECONDS).closeAsync().get(SOON, TimeUnit.SECONDS);
            }
        }

        @Test
        void twoReadersThatArriveAtOnceAreBothCounted() throws Exception {
            try (TestClient first = open();
                    TestClient second = open()) {
                first.client().lock("a").lock(); // makes the row
                first.client().lock("a").unlock();
                Gate commit = new Gate(first, sql -> sql.endsWith("COMMIT"));
                CompletableFuture<Lease> one = reading(first);
                commit.awaitReached();
                CompletableFuture<Lease> two = reading(second);
                Awaitility.await().pollDelay(Duration.ofMillis(300)).until(() -> true);
                commit.letGo();
                CompletableFuture.allOf(one, two).get(SOON, TimeUnit.SECONDS);
                assertThat(queryLong("SELECT readers FROM lockstep_locks WHERE name = ?", key("a")))
                        .isEqualTo(2);
            }
        }

        private CompletableFuture<Lease> reading(TestClient client) {
            return client.client().readWriteLock("a").readLock().acquireAsync();
        }

        @Test
        void aReleaseThatMeetsAnArrivalServesIt() throws Exception {
            try (TestClient holder = open();
                    TestClient waiter = open()) {
                Lease held = holder.client().lock("a").acquireAsync().get(SOON, TimeUnit.SECONDS);
                Gate commit = arrival(waiter, "a");
                CompletableFuture<Lease> waiting = waiter.client().lock("a").acquireAsync();
                commit.awaitReached();
                CompletableFuture<Void> released = held.closeAsync();
                Awaitility.await().pollDelay(Duration.ofMillis(300)).until(() -> true);
                commit.letGo();
                waiting.get(SOON, TimeUnit.SECONDS).closeAsync().get(SOON, TimeUnit.SECONDS);
                released.get(SOON, TimeUnit.SECONDS);
            }
        }

        @Test
        void aTakeoverBetweenTwoLooksOfARivalIsNotUndone() throws Exception {
            try (TestClient first = open();
                    TestClient second = open()) {
                execute(
                        "INSERT INTO lockstep_locks (name, token, owner, session, readers, tickets)"
                                + " VALUES (?, 1, 'gone.1', 'gone:1', 0, 0)",
                        key("a"));
                // Both see a dead owner; the first has ended it when the second continues.
                Gate gate = new Gate(second, "DELETE FROM lockstep_sessions");
                CompletableFuture<Boolean> late = CompletableFuture.supplyAsync(
                        () -> second.client().lock("a").tryLock());
                gate.awaitReached();
                Lease lease = first.client()
                        .lock("a")
                        .tryAcquireAsync(Duration.ofSeconds(SOON))
                        .get(SOON, TimeUnit.SECONDS)
                        .orElseThrow();
                gate.letGo();
                assertThat(late.get(SOON, TimeUnit.SECONDS)).isFalse();
                assertThat(lease.isValid()).isTrue();
                assertThat(second.client().inspect("a").holders()).hasSize(1);
                lease.closeAsync().get(SOON, TimeUnit.SECONDS);
            }
        }

        @Test
        void aWaiterWhoseArrivalWasNotAnsweredLeavesNothingInTheQueue() throws Exception {
            try (TestClient holder = open();
                    TestClient waiter = open()) {
                Lease held = holder.client().lock("a").acquireAsync().get(SOON, TimeUnit.SECONDS);
                CountDownLatch committed = new CountDownLatch(1);
                waiter.source().before(sql -> {
                    if ((sql.endsWith("COMMIT") || sql.startsWith("WITH queued")) && committed.getCount() > 0) {
                        waiter.source().hurt(HurtSource.Fault.DEAF); // first: the test heals it once it may continue
                        committed.countDown();
                    }
                });
                CompletableFuture<Lease> waiting = waiter.client().lock("a").acquireAsync();
                assertThat(committed.await(SOON, TimeUnit.SECONDS)).isTrue();
                Awaitility.await("its arrival is committed")
                        .untilAsserted(() -> assertThat(
                                        queryLong("SELECT COUNT(*) FROM lockstep_claims WHERE name = ?", key("a")))
                                .isOne());
                held.closeAsync().get(SOON, TimeUnit.SECONDS);
                waiter.source().hurt(HurtSource.Fault.NONE);
                Lease lease = waiting.get(SOON, TimeUnit.SECONDS);
                assertThat(queryLong("SELECT COUNT(*) FROM lockstep_claims WHERE name = ?", key("a")))
                        .isZero();
                assertThat(queryLong(
                                "SELECT COUNT(*) FROM lockstep_locks WHERE head IS NOT NULL AND name = ?", key("a")))
                        .isZero();
                lease.closeAsync().get(SOON, TimeUnit.SECONDS);
            }
        }

        @Test
        void anAnswerThatIsLostIsFoundAgain() throws Exception {
            try (TestClient test = open()) {
                test.client().lock("a").lock();
                test.client().lock("a").unlock();
                AtomicBoolean lost = new AtomicBoolean();
                test.source().before(sql -> {
                    if (sql.contains("owner = ?") && lost.compareAndSet(false, true)) {
                        test.source().hurt(HurtSource.Fault.DEAF);
                    } else {
                        test.source().hurt(HurtSource.Fault.NONE);
                    }
                });
                Lease lease = test.client()
                        .lock("a")
                        .tryAcquireAsync(Duration.ofSeconds(SOON))
                        .get()
                        .orElseThrow();
                assertThat(lost).isTrue();
                assertThat(lease.isValid()).isTrue();
                lease.closeAsync().get(SOON, TimeUnit.SECONDS);
                assertThat(queryLong(
                                "SELECT COUNT(*) FROM lockstep_locks WHERE owner IS NOT NULL AND name = ?", key("a")))
                        .isZero();
            }
        }
    }

    /** The rows that are left behind, and the client that removes them. */
    @Nested
    class Cleaning {
        @Test
        void rowsOfADeadClientAreCleanedUpByAnother() throws Exception {
            LockClient dead = LockClient.builder()
                    .namespace(namespace)
                    .ttl(SHORT)
                    .backend(JdbcEngine.at(url()).createSchema(true))
                    .connect();
            try (TestClient alive = open(SHORT)) {
                dead.lock("a").acquireAsync().get(SOON, TimeUnit.SECONDS);
                dead.readWriteLock("b").readLock().acquireAsync().get(SOON, TimeUnit.SECONDS);
                String session = queryString("SELECT session FROM lockstep_locks WHERE name = ?", key("a"));
                execute("DELETE FROM lockstep_sessions WHERE id = ?", session);
                alive.call(link -> alive.backend().store().electSweeper(link, 0)); // makes the sweeper's row
                await("removed", unused -> rows(session) == 0);
            } finally {
                dead.close();
            }
        }

        @Test
        void aCloseThatMeetsANewSessionLeavesNone() throws Exception {
            TestClient client = open();
            Session first = client.backend().sessions().current();
            Gate opening = new Gate(client, "INSERT INTO lockstep_sessions");
            first.signalLost(LossReason.SESSION_ENDED); // so that it opens another
            opening.awaitReached();
            Thread closing = new Thread(client::close);
            closing.start();
            await("it waits for the end of its session", unused -> closing.getState() == Thread.State.TIMED_WAITING);
            opening.letGo();
            closing.join(TimeUnit.SECONDS.toMillis(SOON));
            String second = client.backend().sessions().current().id();
            assertThat(second).isNotEqualTo(first.id());
            assertThat(queryLong("SELECT COUNT(*) FROM lockstep_sessions WHERE id = ?", second))
                    .isZero();
        }

        private String queryString(String sql, String argument) throws SQLException {
            try (Connection connection = connect();
                    PreparedStatement statement = connection.prepareStatement(sql)) {
                statement.setString(1, argument);
                try (ResultSet rows = statement.executeQuery()) {
                    rows.next();
                    return rows.getString(1);
                }
            }
        }

        private long rows(String session) {
            try {
                return queryLong("SELECT COUNT(*) FROM lockstep_locks WHERE session = ?", session)
                        + queryLong("SELECT COUNT(*) FROM lockstep_claims WHERE session = ?", session);
            } catch (SQLException e) {
                return -1;
            }
        }

        @Test
        void anIdleNameGoesAndItsNextTokenIsHigher() throws Exception {
            try (TestClient test = open()) {
                long before;
                try (Lease lease = test.client().lock("a").acquire()) {
                    before = lease.token();
                }
                Store store = test.backend().store();
                long idle = Duration.ofDays(1).toNanos() / 1_000;
                assertThat((Boolean) test.call(link -> store.removeIdle(link, key("a"), idle)))
                        .isFalse();
                execute("UPDATE lockstep_locks SET token = token - 2 * " + idle + " WHERE name = ?", key("a"));
                long older = queryLong("SELECT token FROM lockstep_locks WHERE name = ?", key("a"));
                assertThat((List<String>) test.call(link -> store.idleKeys(link, idle)))
                        .contains(key("a"));
                assertThat((Boolean) test.call(link -> store.removeIdle(link, key("a"), idle)))
                        .isTrue();
                try (Lease lease = test.client().lock("a").acquire()) {
                    assertThat(lease.token()).isGreaterThan(before).isGreaterThan(older * 1024);
                }
            }
        }

        @Test
        void aNameThatIsHeldOrWaitedForIsNotIdle() throws Exception {
            try (TestClient test = open();
                    TestClient rival = open()) {
                Store store = test.backend().store();
                long idle = Duration.ofDays(1).toNanos() / 1_000;
                Lease held = test.client().lock("a").acquireAsync().get(SOON, TimeUnit.SECONDS);
                Lease shared = test.client()
                        .readWriteLock("b")
                        .readLock()
                        .acquireAsync()
                        .get(SOON, TimeUnit.SECONDS);
                CompletableFuture<Lease> waiting = rival.client().lock("b").acquireAsync();
                await(
                        "it waits",
                        unused -> rival.client().inspect("b").waiters().size() == 1);
                execute("UPDATE lockstep_locks SET token = token - 2 * " + idle + " WHERE name = ?", key("a"));
                execute("UPDATE lockstep_locks SET token = token - 2 * " + idle + " WHERE name = ?", key("b"));
                assertThat((Boolean) test.call(link -> store.removeIdle(link, key("a"), idle)))
                        .isFalse();
                assertThat((Boolean) test.call(link -> store.removeIdle(link, key("b"), idle)))
                        .isFalse();
                held.closeAsync().get(SOON, TimeUnit.SECONDS);
                shared.closeAsync().get(SOON, TimeUnit.SECONDS);
                waiting.get(SOON, TimeUnit.SECONDS).closeAsync().get(SOON, TimeUnit.SECONDS);
            }
        }

        @Test
        void oneClientCleansUpInEachPeriod() throws Exception {
            try (TestClient one = open();
                    TestClient two = open()) {
                long day = Duration.ofDays(1).toNanos() / 1_000;
                one.call(link -> one.backend().store().electSweeper(link, 0));
                execute("UPDATE lockstep_locks SET token = token - 2 * " + day + " WHERE name = ?", "#sweeper");
                boolean first = one.call(link -> one.backend().store().electSweeper(link, day));
                boolean second = two.call(link -> two.backend().store().electSweeper(link, day));
                assertThat(List.of(first, second)).containsExactly(true, false);
            }
        }

        @Test
        void aLockOfAnEndedSessionGoesToTheNextCaller() throws Exception {
            try (TestClient holder = open();
                    TestClient rival = open()) {
                holder.client().lock("a").acquireAsync().get(SOON, TimeUnit.SECONDS);
                assertThat(rival.client().lock("a").tryLock()).isFalse();
                String session = holder.backend().sessions().current().id();
                assertThat(execute("UPDATE lockstep_sessions SET expires = 0 WHERE id = ?", session))
                        .isEqualTo(1);
                assertThat(rival.client().lock("a").tryLock()).isTrue();
                assertThat(queryLong("SELECT COUNT(*) FROM lockstep_sessions WHERE id = ?", session))
                        .isZero();
                rival.client().lock("a").unlock();
            }
        }
    }
}
