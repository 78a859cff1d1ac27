package dev.lockstep.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.lockstep.DistributedLock;
import dev.lockstep.Fallback;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockLostException;
import dev.lockstep.LockOptions;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.LossReason;
import dev.lockstep.ReleaseNotConfirmedException;
import dev.lockstep.SelfDeadlockException;
import dev.lockstep.memory.MemoryEngine;
import dev.lockstep.servers.PostgresServer;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.SqlServer;
import dev.lockstep.servers.TcpProxy;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Every outcome, on a real engine, is counted once and under its name. */
class OutcomesTest {
    static {
        Awaitility.setDefaultTimeout(Duration.ofSeconds(20)); // a busy machine takes long
    }

    private static final RedisServer server =
            Servers.require(() -> RedisServer.builder().start());
    private static final TcpProxy proxy = TcpProxy.to(server);

    private final MeterRegistry registry = new SimpleMeterRegistry();
    private final Meters meters = new Meters(registry);
    private final LockClient client = client(Fallback.failFast());
    private final LockClient rival =
            LockClient.builder().url(server.url()).clientName("rival").connect();

    @AfterAll
    static void stop() {
        proxy.close();
        server.close();
    }

    private LockClient client(Fallback fallback) {
        return LockClient.builder()
                .url("redis://127.0.0.1:" + proxy.port())
                .clientName("me")
                .ttl(Duration.ofSeconds(6))
                .requestTimeout(Duration.ofSeconds(3)) // a machine with a load of 30 took more than a second to connect
                .fallback(fallback)
                .observer(new LockMetrics(registry))
                .connect();
    }

    @AfterEach
    void close() {
        proxy.heal();
        client.close();
        rival.close();
    }

    @Test
    void holdsThatAreReleased() throws InterruptedException {
        DistributedLock lock = client.lock("order:1");
        lock.lock();
        assertThat(meters.active()).isOne();
        lock.lock(); // re-entry is no new hold
        lock.unlock();
        lock.unlock();
        client.readWriteLock("order:2").readLock().acquire().close();
        assertThat(meters.acquire("acquired")).isEqualTo(2);
        assertThat(meters.count(LockMeters.ACQUIRE)).isEqualTo(2);
        assertThat(meters.hold("released")).isEqualTo(2);
        assertThat(meters.count(LockMeters.HOLD)).isEqualTo(2);
        assertThat(meters.active()).isZero();
        assertThat(meters.counter(LockMeters.LOST)).isZero();
        assertThat(meters.count(LockMeters.HOLD, "client", "me", "engine", "redis", "mode", "shared", "group", "order"))
                .isOne();
        assertThat(meters.count(
                        LockMeters.HOLD, "client", "me", "engine", "redis", "mode", "exclusive", "group", "order"))
                .isOne();
        assertThat(meters.count(LockMetrics.REQUEST, "outcome", "answered")).isPositive();
    }

    @Test
    void callsThatDoNotGetTheLock() throws Exception {
        Lease held = rival.lock("order:3").acquire();
        DistributedLock lock = client.lock("order:3");
        assertThat(lock.tryLock()).isFalse();
        assertThat(lock.tryLock(50, TimeUnit.MILLISECONDS)).isFalse();
        Thread.currentThread().interrupt();
        assertThatThrownBy(lock::acquire).isInstanceOf(InterruptedException.class);
        CompletableFuture<Lease> waiting = lock.acquireAsync();
        await().atMost(Duration.ofSeconds(20))
                .untilAsserted(
                        () -> assertThat(meters.gauge(LockMeters.WAITING)).isOne());
        waiting.cancel(false);
        await().atMost(Duration.ofSeconds(20))
                .untilAsserted(() -> assertThat(meters.acquire("cancelled")).isEqualTo(2));
        held.close();
        Lease own =
                client.lock("order:4", LockOptions.defaults().nonReentrant()).acquire();
        assertThatThrownBy(() -> client.lock("order:4", LockOptions.defaults().nonReentrant())
                        .tryAcquire())
                .isInstanceOf(SelfDeadlockException.class);
        own.close();
        assertThat(meters.acquire("busy")).isOne();
        assertThat(meters.acquire("timeout")).isOne();
        assertThat(meters.acquire("failed")).isOne();
        assertThat(meters.acquire("acquired")).isOne();
        assertThat(meters.count(LockMeters.ACQUIRE)).isEqualTo(6);
        assertThat(meters.gauge(LockMeters.WAITING)).isZero();
        assertThat(meters.active()).isZero();
    }

    @Test
    void holdsThatAreLost() throws InterruptedException {
        Lease revoked = client.lock("order:5").acquire();
        rival.forceRelease("order:5");
        assertThatThrownBy(revoked::close).isInstanceOf(LockLostException.class);
        Lease bounded = client.lock("order:6", LockOptions.defaults().maxHold(Duration.ofMillis(50)))
                .acquire();
        await().atMost(Duration.ofSeconds(20)).until(() -> !bounded.isValid());
        assertThatThrownBy(bounded::close).isInstanceOf(LockLostException.class);
        Lease rest = client.lock("order:7").acquire();
        client.close();
        assertThatThrownBy(rest::close).isInstanceOf(LockLostException.class);
        assertThat(meters.counter(LockMeters.LOST, "reason", "revoked")).isOne();
        assertThat(meters.counter(LockMeters.LOST, "reason", "max_hold_reached"))
                .isOne();
        assertThat(meters.counter(LockMeters.LOST, "reason", "client_closed")).isOne();
        assertThat(meters.counter(LockMeters.LOST)).isEqualTo(3);
        assertThat(meters.hold("lost")).isEqualTo(3);
        assertThat(meters.count(LockMeters.HOLD)).isEqualTo(3);
    }

    @Test
    void sessionThatTheEngineEnds() throws InterruptedException {
        MemoryEngine engine = new MemoryEngine();
        try (LockClient local = LockClient.builder()
                        .backend(engine)
                        .clientName("local")
                        .observer(new LockMetrics(registry))
                        .connect();
                Lease lease = local.lock("order:15").acquire()) {
            engine.expireSession("local");
            assertThat(lease.isValid()).isFalse();
        } catch (LockLostException e) {
            assertThat(e.reason()).isEqualTo(LossReason.SESSION_ENDED);
        }
        assertThat(meters.counter(LockMeters.LOST, "reason", "session_ended")).isOne();
        assertThat(meters.counter(LockMeters.LOST)).isOne();
        assertThat(meters.hold("lost")).isOne();
    }

    /** As when a database is restored, or its clock is set forward. */
    @Test
    @Tag("full")
    void sessionThatPostgresNoLongerHas() throws Exception {
        try (PostgresServer postgres =
                        Servers.require(() -> PostgresServer.builder().start());
                LockClient local = LockClient.builder()
                        .url(url(postgres) + "&lockstep.createSchema=true")
                        .ttl(Duration.ofSeconds(6)) // is renewed after two
                        .observer(new LockMetrics(registry))
                        .connect();
                Connection connection = DriverManager.getConnection(url(postgres));
                Statement statement = connection.createStatement()) {
            Lease lease = local.lock("order:16").acquire();
            assertThat(statement.executeUpdate("UPDATE lockstep_sessions SET expires = 0"))
                    .isOne();
            await().atMost(Duration.ofSeconds(20)).until(() -> !lease.isValid());
            assertThatThrownBy(lease::close)
                    .isInstanceOfSatisfying(
                            LockLostException.class, e -> assertThat(e.reason()).isEqualTo(LossReason.SESSION_ENDED));
        }
        assertThat(meters.counter(LockMeters.LOST, "reason", "session_ended")).isOne();
        assertThat(meters.counter(LockMeters.LOST)).isOne();
        assertThat(meters.hold("lost")).isOne();
    }

    private static String url(PostgresServer postgres) {
        return postgres.jdbcUrl() + "?user=" + SqlServer.USER + "&password="
                + URLEncoder.encode(SqlServer.PASSWORD, StandardCharsets.UTF_8);
    }

    @Test
    void engineThatDoesNotAnswer() throws InterruptedException {
        assertThat(meters.gauge(LockMetrics.REACHABLE)).isOne();
        Lease unconfirmed = client.lock("order:8").acquire();
        Lease expired = client.lock("order:9").acquire();
        proxy.blackHole();
        assertThatThrownBy(unconfirmed::close).isInstanceOf(ReleaseNotConfirmedException.class);
        assertThatThrownBy(() -> client.lock("order:10").lock()).isInstanceOf(LockUnavailableException.class);
        await().atMost(Duration.ofSeconds(20)).until(() -> !expired.isValid());
        await().atMost(Duration.ofSeconds(20))
                .untilAsserted(() -> assertThat(meters.counter(LockMeters.LOST, "reason", "expired"))
                        .isOne());
        assertThat(meters.gauge(LockMetrics.REACHABLE)).isZero();
        assertThat(meters.counter(LockMetrics.RENEWAL_FAILURES)).isPositive();
        assertThat(meters.count(LockMetrics.REQUEST, "outcome", "failed")).isPositive();
        assertThat(meters.hold("unconfirmed")).isOne();
        assertThat(meters.acquire("unavailable")).isOne();
        assertThat(meters.acquire("acquired")).isEqualTo(2);
        assertThat(meters.active()).isZero();
        proxy.heal();
        await().atMost(Duration.ofSeconds(20))
                .untilAsserted(
                        () -> assertThat(meters.gauge(LockMetrics.REACHABLE)).isOne());
        assertThatThrownBy(expired::close).isInstanceOf(LockLostException.class);
    }

    @Test
    void fallback() throws InterruptedException {
        client.close();
        LockClient falling = client(Fallback.thisJvmOnly().after(Duration.ofMillis(300)));
        try (falling) {
            assertThat(meters.gauge(LockMetrics.FALLBACK)).isZero();
            proxy.blackHole();
            Lease lease = falling.lock("order:11").acquire();
            assertThat(meters.gauge(LockMetrics.FALLBACK)).isOne();
            proxy.heal();
            await().atMost(Duration.ofSeconds(20)).until(() -> !falling.inFallback());
            lease.close();
            await().atMost(Duration.ofSeconds(20))
                    .untilAsserted(
                            () -> assertThat(meters.gauge(LockMetrics.FALLBACK)).isZero());
        }
        assertThat(meters.gauge(LockMetrics.FALLBACK)).as("after close").isEqualTo(-1);
    }

    @Test
    void handOffsBelongToTheGroupOfTheNextHolder() throws Exception {
        DistributedLock lock = client.lock("order:12", LockOptions.defaults().group("shipping"));
        lock.lock();
        CompletableFuture<Lease> next = lock.acquireAsync();
        lock.unlock();
        next.get(20, TimeUnit.SECONDS).closeAsync().get();
        assertThat(meters.counter(LockMeters.HAND_OFFS, "group", "shipping")).isOne();
        assertThat(meters.values("group")).containsExactly("shipping");
    }

    @Test
    void gaugesGoWithTheirClient() throws InterruptedException {
        Lease lease = client.lock("order:13").acquire();
        lease.close();
        client.close();
        assertThat(meters.active()).isEqualTo(-1);
        assertThat(meters.gauge(LockMetrics.REACHABLE)).isEqualTo(-1);
        assertThat(meters.hold("released")).isOne();
    }

    @Test
    void metricsOfAClosedClientServeTheNextOne() throws InterruptedException {
        LockMetrics metrics = new LockMetrics(registry);
        for (String name : new String[] {"first", "second"}) {
            LockClient one = LockClient.builder()
                    .url("memory:")
                    .clientName(name)
                    .observer(metrics)
                    .connect();
            DistributedLock lock = one.lock("order:14");
            try (one;
                    Lease lease = lock.acquire()) {
                assertThat(meters.gauge(LockMeters.ACTIVE, "client", name)).isOne();
                assertThat(meters.gauge(LockMetrics.REACHABLE, "client", name)).isOne();
                assertThat(lease.isValid()).isTrue();
            }
            assertThat(meters.count(LockMeters.HOLD, "client", name)).isOne();
            // A late call is still one of the client that was closed.
            assertThatThrownBy(lock::tryLock).isInstanceOf(IllegalStateException.class);
            assertThat(meters.count(LockMeters.ACQUIRE, "client", name, "outcome", "failed"))
                    .isOne();
        }
        assertThat(meters.active()).isEqualTo(-1);
    }

    @Test
    void clientClosedInAnOutageLeavesTheNextOneReachable() {
        MemoryEngine engine = new MemoryEngine();
        LockMetrics metrics = new LockMetrics(registry);
        try (LockClient first = LockClient.builder()
                .backend(engine)
                .clientName("first")
                .requestTimeout(Duration.ofMillis(200))
                .observer(metrics)
                .connect()) {
            engine.disconnect("first", MemoryEngine.Outage.REQUESTS_LOST);
            assertThatThrownBy(() -> first.lock("order:16").lock()).isInstanceOf(LockUnavailableException.class);
            await().atMost(Duration.ofSeconds(20))
                    .untilAsserted(() -> assertThat(meters.gauge(LockMetrics.REACHABLE, "client", "first"))
                            .isZero());
        }
        try (LockClient second = LockClient.builder()
                .backend(engine)
                .clientName("second")
                .observer(metrics)
                .connect()) {
            assertThat(second.isClosed()).isFalse();
            assertThat(meters.gauge(LockMetrics.REACHABLE, "client", "second")).isOne();
        }
    }
}
