package dev.lockstep.jdbc;

import static dev.lockstep.jdbc.SqlBench.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.servers.Logged;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** When a release that fails is repeated, when it ends, and that no row stays behind. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ReleaseTest {
    private static final Duration TTL = Duration.ofSeconds(20);
    private static final Duration PATIENCE = Duration.ofSeconds(SOON);
    private static final int NO_SUCH_TABLE = 1;
    private static final int DISK_ERROR = 10;

    @TempDir
    Path folder;

    private final AtomicInteger tries = new AtomicInteger();

    private TestClient open() {
        return TestClient.open("jdbc:sqlite:" + folder.resolve("locks.db"), "retrying", TTL);
    }

    private TestClient openH2() {
        return TestClient.open("jdbc:h2:" + folder.resolve("locks"), "retrying", TTL);
    }

    /** Makes each try of a release fail for which there is a failure, by its number. */
    private void failReleases(TestClient client, IntFunction<@Nullable Exception> failures) {
        client.source().before(sql -> {
            if (sql.contains("SET owner = NULL")) {
                Exception failure = failures.apply(tries.incrementAndGet());
                if (failure != null) {
                    ReleaseTest.<RuntimeException>sneak(failure);
                }
            }
        });
    }

    @SuppressWarnings("unchecked") // what a driver throws is not declared by a listener
    static <E extends Exception> void sneak(Exception failure) throws E {
        throw (E) failure;
    }

    private static Lease take(TestClient client) throws Exception {
        return client.client().lock("a").acquireAsync().get(SOON, TimeUnit.SECONDS);
    }

    private static void assertFreeSoon(TestClient rival) throws Exception {
        assertThat(rival.client().lock("a").tryLock(TTL.toMillis(), TimeUnit.MILLISECONDS))
                .isTrue();
        rival.client().lock("a").unlock();
    }

    @Test
    void aReleaseThatADriverFailsInItsOwnWayIsRepeated() throws Exception {
        try (TestClient client = open();
                TestClient rival = open()) {
            Lease lease = take(client);
            failReleases(client, number -> number < 3 ? new IllegalStateException("not today") : null);
            lease.closeAsync().get(SOON, TimeUnit.SECONDS);
            assertThat(tries).hasValue(3);
            assertFreeSoon(rival);
        }
    }

    @Test
    void aReleaseThatNoRetryCanCompleteEndsAndTheNextRenewalFreesTheRow() throws Exception {
        try (TestClient client = open();
                TestClient rival = open()) {
            Lease lease = take(client);
            failReleases(client, number -> new SQLException("no such table", null, NO_SUCH_TABLE));
            assertThatThrownBy(() -> lease.closeAsync().get(SOON, TimeUnit.SECONDS))
                    .hasRootCauseInstanceOf(SQLException.class)
                    .hasStackTraceContaining(LockConfigurationException.class.getName());
            assertThat(rival.client().lock("a").tryLock()).isFalse();
            assertFreeSoon(rival); // by another statement, which does not fail
            assertThat(tries).hasValue(1);
        }
    }

    /** The comparison has read the row before, and asks who knows it afterwards. */
    @Test
    void aReleaseDuringTheComparisonIsNoAlarm() throws Exception {
        try (TestClient client = openH2();
                Logged log = new Logged()) {
            Lease lease = take(client);
            AtomicInteger compared = new AtomicInteger();
            client.source().after(sql -> {
                if (sql.startsWith("SELECT name, owner") && compared.incrementAndGet() == 1) {
                    lease.closeAsync().orTimeout(SOON, TimeUnit.SECONDS).join();
                }
            });
            compare(client, compared, 1);
            compare(client, compared, 2); // begins when the first one has ended
            assertThat(log.text()).doesNotContain("WARN");
        }
    }

    @Test
    void rowsThatAreFreedAreReportedWhetherTheyHeldOrWaited() throws Exception {
        try (TestClient client = openH2();
                Logged log = new Logged()) {
            take(client).close(); // its name is remembered
            String session = client.backend().sessions().current().id();
            for (String claim : List.of("forgotten-holder", "forgotten-waiter")) {
                Ask ask = new Ask(new Keys("retrying").key("a"), claim, "client", false, true, true, "main", 0, 0, 1);
                client.call(link -> client.backend().store().queue().arrive(link, ask, session));
            }
            AtomicInteger compared = new AtomicInteger();
            client.source().after(sql -> {
                if (sql.startsWith("SELECT name, owner")) {
                    compared.incrementAndGet();
                }
            });
            compare(client, compared, 1);
            compare(client, compared, 2);
            assertThat(log.text().lines().filter(line -> line.contains("it was freed")))
                    .hasSize(2);
            assertThat(client.client().lock("a").tryLock()).isTrue();
        }
    }

    private static void compare(TestClient client, AtomicInteger compared, int times) {
        Awaitility.await("it has compared").atMost(PATIENCE).until(() -> {
            client.backend().reconciler().start(client.backend().sessions().current());
            return compared.get() >= times;
        });
    }

    /** The end of the session frees them all, however many there are. */
    @Test
    void closingWithMoreLocksThanCanBeReleasedInTimeIsNoAlarm() throws Exception {
        String url = "jdbc:sqlite:" + folder.resolve("locks.db");
        HurtSource source = new HurtSource(OwnPool.source(url, Dialects.ofUrl(url), TTL), new AtomicLong(), TTL);
        source.before(sql -> {
            if (sql.contains("SET owner = NULL")) {
                // Sixty take longer than the client waits. The end of the session waits for eight at most, half a
                // timeout.
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(200));
            }
        });
        try (TestClient rival = open();
                Logged log = new Logged()) {
            LockClient client = LockClient.builder()
                    .namespace("retrying")
                    .requestTimeout(Duration.ofSeconds(3)) // also bounds the end of the session, on a busy machine, too
                    .backend(JdbcEngine.at(url).driver(source))
                    .connect();
            for (int i = 0; i < 60; i++) {
                client.lock("many-" + i).acquireAsync().get(SOON, TimeUnit.SECONDS);
            }
            client.close();
            assertThat(log.text()).doesNotContain("WARN");
            for (int i = 0; i < 60; i++) {
                assertThat(rival.client().lock("many-" + i).tryLock()).isTrue();
            }
        }
    }

    @Test
    void aReleaseEndsWithItsSession() throws Exception {
        try (TestClient client = open()) {
            Lease lease = take(client);
            Session session = client.backend().sessions().current();
            failReleases(client, number -> new SQLException("disk I/O error", null, DISK_ERROR));
            CompletableFuture<Void> closed = lease.closeAsync();
            Awaitility.await("it is repeated").atMost(PATIENCE).until(() -> tries.get() > 1);
            client.call(link -> client.backend().store().endSession(link, session.id()));
            Awaitility.await("the session has ended").atMost(PATIENCE).until(session::isEnded);
            assertThatThrownBy(() -> closed.get(SOON, TimeUnit.SECONDS)).isNotNull();
            int before = tries.get();
            TimeUnit.MILLISECONDS.sleep(500); // several times the longest delay between two tries
            assertThat(tries.get() - before).isLessThanOrEqualTo(1);
        }
    }
}
