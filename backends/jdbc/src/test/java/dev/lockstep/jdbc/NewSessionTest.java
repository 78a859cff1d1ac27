package dev.lockstep.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LossReason;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** As with a limit of threads: what a driver throws then is an error of the JVM, and no exception. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class NewSessionTest {
    private static final Duration PATIENCE = Duration.ofSeconds(SqlBench.SOON);
    private static final String URL = "jdbc:h2:mem:new-session;DB_CLOSE_DELAY=-1";

    private final HurtSource source = new HurtSource(
            OwnPool.source(URL, Dialects.ofUrl(URL), Duration.ofSeconds(5)), new AtomicLong(), Duration.ofSeconds(5));
    private final JdbcBackend[] backend = new JdbcBackend[1];
    private final AtomicLong failures = new AtomicLong();
    private volatile boolean failing;
    private LockClient client;

    @BeforeEach
    void open() {
        client = LockClient.builder()
                .requestTimeout(PATIENCE)
                .retryBackoff(Duration.ofMillis(5), Duration.ofMillis(20))
                .backend(context -> backend[0] =
                        (JdbcBackend) JdbcEngine.over(source).createSchema(true).open(context))
                .connect();
    }

    @AfterEach
    void close() {
        failing = false;
        source.hurt(HurtSource.Fault.NONE);
        client.close();
    }

    private void awaitTries() {
        long before = source.refused();
        Awaitility.await().atMost(PATIENCE).until(() -> source.refused() > before + 1);
    }

    @Test
    void aSessionThatCannotBeOpenedForLackOfAThreadIsTriedAgain() throws Exception {
        source.hurt(HurtSource.Fault.NO_THREAD);
        backend[0].sessions().current().signalLost(LossReason.SESSION_ENDED);
        awaitTries();
        source.hurt(HurtSource.Fault.NONE);
        assertThat(client.lock("x").tryLock(PATIENCE)).isTrue();
        client.lock("x").unlock();
    }

    @Test
    void aClaimThatFindsNoThreadIsTriedAgain() throws Exception {
        source.hurt(HurtSource.Fault.NO_THREAD);
        CompletableFuture<Lease> acquiring = client.lock("x").acquireAsync();
        awaitTries();
        source.hurt(HurtSource.Fault.NONE);
        acquiring.get(SqlBench.SOON, TimeUnit.SECONDS).close();
    }

    @Test
    void aClaimWhoseStatementFailsWithAnErrorIsTriedAgain() throws Exception {
        failStatements();
        CompletableFuture<Lease> acquiring = client.lock("x").acquireAsync();
        awaitFailures();
        failing = false;
        acquiring.get(SqlBench.SOON, TimeUnit.SECONDS).close();
    }

    @Test
    void aReleaseWhoseStatementFailsWithAnErrorIsTriedAgain() throws Exception {
        Lease lease = client.lock("x").acquire();
        failStatements();
        CompletableFuture<Void> closing = lease.closeAsync();
        awaitFailures();
        failing = false;
        closing.get(SqlBench.SOON, TimeUnit.SECONDS);
        assertThat(client.inspect("x").isFree()).isTrue();
    }

    private void failStatements() {
        failing = true;
        source.before(sql -> {
            if (failing) {
                failures.incrementAndGet();
                throw new InternalError("as the test wants it");
            }
        });
    }

    private void awaitFailures() {
        Awaitility.await().atMost(PATIENCE).until(() -> failures.get() > 1);
    }
}
