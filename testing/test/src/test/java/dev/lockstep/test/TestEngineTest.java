package dev.lockstep.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockLostException;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.LossReason;
import dev.lockstep.ReleaseNotConfirmedException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The effect of each fault, on the engine inside the JVM and on a database. */
class TestEngineTest {
    private static final Duration TTL = Duration.ofMillis(1500);
    private static final Duration TIMEOUT = Duration.ofMillis(300);
    private static final Duration SOON = Duration.ofSeconds(20);

    static Stream<TestEngine> engines() {
        return Stream.of(
                TestEngine.memory(),
                TestEngine.of("jdbc:h2:mem:faults-" + System.nanoTime() + "?lockstep.createSchema=true"));
    }

    @ParameterizedTest
    @MethodSource("engines")
    void aLostLockIsNotValidAndAnotherProcessGetsIt(TestEngine engine) throws Exception {
        try (LockClient locks = client(engine);
                LockClient other = other(engine)) {
            Lease lease = locks.lock("order").acquire();
            AtomicReference<LossReason> told = new AtomicReference<>();
            lease.onLost(told::set);

            assertThat(engine.loseLock("something else")).isFalse();
            assertThat(lease.isValid()).isTrue();
            assertThat(engine.loseLock("order", LossReason.SESSION_ENDED)).isTrue();

            assertThat(lease.isValid()).isFalse();
            await().atMost(SOON).untilAtomic(told, org.hamcrest.Matchers.is(LossReason.SESSION_ENDED));
            assertThat(other.lock("order").tryAcquire(SOON)).isPresent();
            assertThatThrownBy(lease::close).isInstanceOf(LockLostException.class);
            assertThat(engine.loseLock("order")).isFalse();
        }
    }

    @ParameterizedTest
    @MethodSource("engines")
    void aDelayedGrantIsHeldAtTheEngineBeforeTheClientKnows(TestEngine engine) throws Exception {
        try (LockClient locks = client(engine);
                LockClient other = other(engine)) {
            engine.delayGrants(Duration.ofMillis(400));
            CompletableFuture<Lease> grant = locks.lock("order").acquireAsync();
            await().atMost(SOON).until(() -> !other.inspect("order").isFree());
            assertThat(grant).isNotDone();
            try (Lease lease = grant.get()) {
                assertThat(lease.isValid()).isTrue();
            }

            CompletableFuture<Lease> cancelled = locks.lock("order").acquireAsync();
            cancelled.cancel(true);
            engine.delayGrants(Duration.ZERO);
            assertThat(other.lock("order").tryAcquire(SOON)).isPresent();
        }
    }

    @ParameterizedTest
    @MethodSource("engines")
    void inAnOutageCallsFailAndLocksAreLostAfterTheirTtl(TestEngine engine) throws Exception {
        // Long enough that both locks are still held when they are released, and when the calls have failed.
        try (LockClient locks = client(engine, Duration.ofSeconds(10));
                LockClient other = other(engine)) {
            Lease lease = locks.lock("held").acquire();
            Lease released = locks.lock("released").acquire();
            engine.takeAway();

            assertThatThrownBy(released::close).isInstanceOf(ReleaseNotConfirmedException.class);
            assertThatThrownBy(() -> locks.lock("free").lock()).isInstanceOf(LockUnavailableException.class);
            assertThatThrownBy(locks::ping).isInstanceOf(LockUnavailableException.class);
            assertThatThrownBy(() -> locks.inspect("held")).isInstanceOf(LockUnavailableException.class);
            assertThatThrownBy(() -> client(engine)).isInstanceOf(LockUnavailableException.class);
            // No other client can have it before its holder has lost it.
            assertThat(other.lock("held").tryAcquire(SOON)).isPresent();
            assertThat(lease.isValid()).isFalse();
            assertThat(other.lock("released").tryAcquire(SOON)).isPresent();
            assertThatThrownBy(lease::close).isInstanceOf(LockLostException.class);

            engine.bringBack();
            assertThat(locks.lock("free").tryLock()).isTrue();
        }
    }

    @ParameterizedTest
    @MethodSource("engines")
    void aShortOutageIsSurvived(TestEngine engine) throws Exception {
        try (LockClient locks = client(engine);
                LockClient other = other(engine)) {
            Lease lease = locks.lock("held").acquire();
            engine.takeAway();
            CompletableFuture<Lease> waiting = locks.lock("free").acquireAsync();
            engine.bringBack();

            waiting.get().close();
            assertThat(lease.isValid()).isTrue();
            assertThat(other.lock("held").tryLock(TTL.multipliedBy(2))).isFalse();
            lease.close();
            assertThat(other.lock("held").tryLock()).isTrue();
        }
    }

    @Test
    void anEngineThatIsNotOnTheClassPathIsNamedWithoutThePassword() {
        assertThatThrownBy(() -> TestEngine.of("redis://user:secret@localhost"))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining("'redis:'")
                .hasMessageNotContaining("secret");
    }

    private static LockClient client(TestEngine engine) {
        return client(engine, TTL);
    }

    private static LockClient client(TestEngine engine, Duration ttl) {
        return LockClient.builder()
                .backend(engine)
                .ttl(ttl)
                .requestTimeout(TIMEOUT)
                .connect();
    }

    private static LockClient other(TestEngine engine) {
        return LockClient.builder().backend(engine.withoutFaults()).connect();
    }
}
