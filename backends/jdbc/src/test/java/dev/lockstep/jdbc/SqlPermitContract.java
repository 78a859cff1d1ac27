package dev.lockstep.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.DistributedLock;
import dev.lockstep.DistributedSemaphore;
import dev.lockstep.Lease;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import dev.lockstep.LockPage;
import dev.lockstep.Permit;
import java.lang.ref.Reference;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Semaphores in the tables, and what operators see of them. */
abstract class SqlPermitContract extends SqlRaceContract {
    /** Permits, beside what the contract says of them. */
    @Nested
    class Permits {
        @Test
        void aPermitIsOneTransactionAndItsReleaseOneMessageWhereTheDriverCan() throws Exception {
            boolean together = Dialects.ofUrl(url()).sendsTogether(url());
            try (TestClient test = open()) {
                DistributedSemaphore semaphore = test.client().semaphore("a", 3);
                semaphore.acquire().close(); // makes the row
                test.sent();
                Permit permit = semaphore.acquire(2);
                assertThat(messages(test)).hasSize(together ? 2 : 4);
                permit.close();
                assertThat(messages(test)).hasSize(together ? 1 : 3);
            }
        }

        /** One driver shows how a transaction is ended as a statement. */
        private List<String> messages(TestClient test) {
            return test.sent().stream().filter(sql -> !sql.equals("COMMIT")).toList();
        }

        @Test
        void aNameThatWasASemaphoreIsAsCheapALockAsAnyOther() throws Exception {
            try (TestClient test = open()) {
                test.client().semaphore("a", 3).acquire().close();
                DistributedLock lock = test.client().lock("a");
                lock.lock();
                lock.unlock();
                test.sent();
                lock.lock();
                lock.unlock();
                assertThat(test.sent()).hasSize(2);
            }
        }

        @Test
        void aSessionThatIsGoneDoesNotSayWhatANameIs() throws Exception {
            try (TestClient gone = open();
                    TestClient test = open()) {
                Permit held = gone.client().semaphore("permits", 2).acquire();
                gone.client().lock("lock").lock();
                CompletableFuture<Permit> waiting = acquire(gone, "permits", 2, 2);
                await(
                        "it waits",
                        unused -> test.client().inspect("permits").waiters().size() == 1);
                execute(
                        "DELETE FROM lockstep_sessions WHERE id = ?",
                        gone.backend().sessions().current().id());
                assertThat(test.client().lock("permits").tryLock()).isTrue();
                assertThat(test.client().semaphore("lock", 7).tryAcquire()).isPresent();
                assertThat(isRefusedOrLost(waiting)).isTrue();
                Reference.reachabilityFence(held); // a permit that is dropped would be released
            }
        }

        /**
         * A claim may be granted in the session that is gone, between the two statements that free its name. Its client
         * loses it with the next renewal, as it loses everything of that session.
         */
        private boolean isRefusedOrLost(CompletableFuture<Permit> waiting) throws Exception {
            try {
                Permit late = waiting.get(3 * SOON, TimeUnit.SECONDS);
                await("it is lost", unused -> !late.isValid());
                return true;
            } catch (ExecutionException e) {
                return e.getCause() instanceof LockConfigurationException;
            }
        }

        /** A writer that may barge must not take what is free for a moment because its first waiter is on the way. */
        @Test
        void aLockDoesNotBargeIntoASemaphoreThatIsWaitedFor() throws Exception {
            try (TestClient holder = open();
                    TestClient rival = open()) {
                Permit held = holder.client().semaphore("a", 1).acquire();
                String slow = rival.backend().clientId() + ".slow";
                execute(
                        "INSERT INTO lockstep_claims (claim, name, ticket, shared, held, token, session) VALUES ('"
                                + slow
                                + "', ?, 1, 1, 0, 0, '"
                                + rival.backend().sessions().current().id() + "')",
                        key("a"));
                execute("UPDATE lockstep_locks SET head = '" + slow + "' WHERE name = ?", key("a"));
                held.close();
                DistributedLock lock = holder.client().lock("a");
                assertThatThrownBy(lock::tryLock).isInstanceOf(LockConfigurationException.class);
                assertThatThrownBy(lock::lock).isInstanceOf(LockConfigurationException.class);
                assertThat(holder.client().semaphore("a", 1).tryAcquire()).isEmpty();
            }
        }

        private CompletableFuture<Permit> acquire(TestClient test, String name, int limit, int count) {
            return CompletableFuture.supplyAsync(() -> {
                try {
                    return test.client().semaphore(name, limit).acquire(count);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
        }

        @Test
        void aWaiterForManyPermitsIsNotOvertaken() throws Exception {
            try (TestClient holder = open();
                    TestClient waiter = open();
                    TestClient rival = open()) {
                Permit one = holder.client().semaphore("a", 3).acquire();
                CompletableFuture<Permit> many = acquire(waiter, "a", 3, 3);
                await(
                        "it waits",
                        unused -> holder.client().inspect("a").waiters().size() == 1);
                assertThat(rival.client().semaphore("a", 3).tryAcquire()).isEmpty();
                CompletableFuture<Permit> after =
                        rival.client().semaphore("a", 3).acquireAsync();
                await(
                        "both wait",
                        unused -> holder.client().inspect("a").waiters().size() == 2);
                one.close();
                Permit all = many.get(SOON, TimeUnit.SECONDS);
                assertThat(all.slots()).containsExactly(0, 1, 2);
                assertThat(after).isNotDone();
                all.close();
                after.get(SOON, TimeUnit.SECONDS).close();
            }
        }
    }

    /** The operators' view. */
    @Nested
    class Shown {
        private LockInfo.Wait waiting(String lock) {
            return LockInfo.Wait.of(
                    lock, LockMode.SHARED, "worker-\uD83D\uDE80 1", Instant.parse("2026-01-02T03:04:05Z"), true);
        }

        private JdbcGrant onlyGrant(TestClient test) {
            return test.backend()
                    .grantsOf(test.backend().sessions().current())
                    .iterator()
                    .next();
        }

        private boolean record(JdbcGrant grant, Optional<LockInfo.Wait> wait) throws Exception {
            return grant.recordWait(wait).toCompletableFuture().get(SOON, TimeUnit.SECONDS);
        }

        private Optional<LockInfo.Wait> shown(TestClient test) {
            List<LockInfo.Entry> holders = test.client().inspect("a").holders();
            assertThat(test.client().list("a").get(0).holders()).hasSameSizeAs(holders);
            return holders.stream()
                    .flatMap(holder -> holder.waitsFor().stream())
                    .findFirst();
        }

        @Test
        void theWaitOfAHolderIsShownUntilItsGrantEnds() throws Exception {
            LockInfo.Wait wait = waiting("other/%\u20AC_\uD83D\uDE80");
            try (TestClient test = open()) {
                Lease lease = test.client().lock("a").acquireAsync().get(SOON, TimeUnit.SECONDS);
                JdbcGrant grant = onlyGrant(test);
                assertThat(shown(test)).isEmpty();
                assertThat(record(grant, Optional.of(wait))).isTrue();
                assertThat(shown(test)).contains(wait);
                assertThat(record(grant, Optional.empty())).isTrue();
                assertThat(shown(test)).isEmpty();
                assertThat(record(grant, Optional.of(wait))).isTrue();
                lease.closeAsync().get(SOON, TimeUnit.SECONDS);
                assertThat(record(grant, Optional.of(wait))).isFalse();
                test.client().lock("a").acquireAsync().get(SOON, TimeUnit.SECONDS);
                assertThat(shown(test)).isEmpty();
            }
        }

        @Test
        void theWaitOfAReaderIsShownToo() throws Exception {
            LockInfo.Wait wait = waiting("other");
            try (TestClient test = open()) {
                Lease lease = test.client()
                        .readWriteLock("a")
                        .readLock()
                        .acquireAsync()
                        .get(SOON, TimeUnit.SECONDS);
                JdbcGrant grant = onlyGrant(test);
                assertThat(record(grant, Optional.of(wait))).isTrue();
                assertThat(shown(test)).contains(wait);
                lease.closeAsync().get(SOON, TimeUnit.SECONDS);
                assertThat(record(grant, Optional.of(wait))).isFalse();
            }
        }

        @Test
        void aGrantThatIsDowngradedKeepsWhatWasRecorded() throws Exception {
            LockInfo.Wait wait = waiting("other");
            try (TestClient test = open()) {
                test.client().readWriteLock("a").writeLock().lock();
                JdbcGrant grant = onlyGrant(test);
                assertThat(record(grant, Optional.of(wait))).isTrue();
                assertThat(grant.downgrade().toCompletableFuture().get(SOON, TimeUnit.SECONDS))
                        .isTrue();
                assertThat(shown(test)).contains(wait);
            }
        }

        @Test
        void holdersAndWaitersHaveTheirClaims() throws Exception {
            try (TestClient holder = open();
                    TestClient waiter = open()) {
                holder.client().lock("a").lock();
                waiter.client().lock("a").acquireAsync();
                await(
                        "it waits",
                        unused -> holder.client().inspect("a").waiters().size() == 1);
                LockInfo info = holder.client().inspect("a");
                assertThat(info.holders().get(0).claim())
                        .contains(onlyGrant(holder).claimId());
                assertThat(info.waiters().get(0).claim())
                        .hasValueSatisfying(claim ->
                                assertThat(claim).startsWith(waiter.backend().clientId() + "."));
            }
        }
    }

    /** Lists in pages. */
    @Nested
    class Pages {
        private static final int MANY = 3_000;

        /** Makes rows of locks that a client holds. */
        private void hold(TestClient test, List<String> names) throws SQLException {
            String session = test.backend().sessions().current().id();
            try (Connection connection = connect()) {
                connection.setAutoCommit(false);
                for (int from = 0; from < names.size(); from += 100) {
                    List<String> some = names.subList(from, Math.min(from + 100, names.size()));
                    String rows = ", (?, 1, ?, ?, '', 0, 0, 0, 0)".repeat(some.size());
                    try (PreparedStatement insert = connection.prepareStatement("INSERT INTO lockstep_locks"
                            + " (name, token, owner, session, thread, since, sticky, readers, tickets) VALUES "
                            + rows.substring(2))) {
                        for (int i = 0; i < some.size(); i++) {
                            insert.setString(3 * i + 1, key(some.get(i)));
                            insert.setString(3 * i + 2, test.backend().clientId() + "." + (from + i));
                            insert.setString(3 * i + 3, session);
                        }
                        insert.executeUpdate();
                    }
                }
                connection.commit();
            }
        }

        private List<String> inPages(TestClient test, String prefix, int limit) {
            List<String> names = new ArrayList<>();
            String cursor = "";
            while (true) {
                test.sent();
                LockPage page = test.client().admin(namespace).list(prefix, cursor, limit);
                assertThat(test.sent().stream().filter(sql -> sql.startsWith("SELECT")))
                        .hasSize(2);
                assertThat(page.locks()).hasSizeLessThanOrEqualTo(limit);
                page.locks().forEach(lock -> names.add(lock.name()));
                if (page.next().isEmpty()) {
                    return names;
                }
                cursor = page.next().orElseThrow();
            }
        }

        @Test
        void thousandsOfLocksAreReadInPagesOfTwoStatements() throws Exception {
            try (TestClient test = open()) {
                List<String> names = new ArrayList<>();
                for (int i = 0; i < MANY; i++) {
                    names.add("many/" + i);
                }
                hold(test, names);
                // Rows that nobody uses, and others than those that were asked for.
                test.client().lock("many/").lock();
                test.client().lock("many/").unlock();
                test.client().lock("manz").lock();
                assertThat(inPages(test, "many/", 1_000)).containsExactlyInAnyOrderElementsOf(names);
                assertThat(inPages(test, "many/", 999)).containsExactlyInAnyOrderElementsOf(names);
                assertThat(inPages(test, "many/29", MANY)).hasSize(111);
                execute(
                        "DELETE FROM lockstep_locks WHERE name LIKE ?",
                        key("many/").replace("_", "%") + "%");
            }
        }

        @Test
        void aPrefixIsTextAndNotAPattern() throws Exception {
            List<String> names = List.of(
                    "a",
                    "A",
                    "a%",
                    "a%b",
                    "a_",
                    "a_b",
                    "ab",
                    "a b",
                    "a~",
                    "a!",
                    "a/",
                    "\u00E4",
                    "\u00E4x",
                    "a\uD83D\uDE80");
            try (TestClient test = open()) {
                hold(test, names);
                for (String prefix :
                        List.of("", "a", "A", "a%", "a_", "a ", "a~", "a!", "\u00E4", "a\uD83D\uDE80", "z")) {
                    List<String> expected = names.stream()
                            .filter(name -> name.startsWith(prefix))
                            .toList();
                    for (int limit : new int[] {1, 3, 100}) {
                        List<String> found = inPages(test, prefix, limit);
                        assertThat(found).as("'%s' by %d", prefix, limit).containsExactlyInAnyOrderElementsOf(expected);
                    }
                    assertThat(test.client().list(prefix))
                            .extracting(LockInfo::name)
                            .containsExactlyInAnyOrderElementsOf(expected);
                }
                for (String name : new TreeSet<>(names)) {
                    execute("DELETE FROM lockstep_locks WHERE name = ?", key(name));
                }
            }
        }

        @Test
        void semaphoresAndReadersAreOnThePages() throws Exception {
            try (TestClient test = open()) {
                Permit held = test.client().semaphore("a", 5).acquire(3);
                test.client().readWriteLock("b").readLock().lock();
                LockPage page = test.client().admin(namespace).list("", "", 1);
                assertThat(page.locks()).singleElement().satisfies(lock -> {
                    assertThat(lock.limit()).hasValue(5);
                    assertThat(lock.holders().get(0).permits()).isEqualTo(3);
                });
                LockPage next =
                        test.client().admin(namespace).list("", page.next().orElseThrow(), 5);
                assertThat(next.locks())
                        .singleElement()
                        .satisfies(lock -> assertThat(lock.name()).isEqualTo("b"));
                assertThat(next.next()).isEmpty();
                Reference.reachabilityFence(held);
            }
        }
    }
}
