package dev.lockstep.internal.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockLostException;
import dev.lockstep.LockOptions;
import dev.lockstep.LossReason;
import dev.lockstep.internal.ScriptedBackend;
import dev.lockstep.internal.TurnstileFixture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Several locks as one, over an engine that answers as the test says. */
class MultiLockTest {
    private final TurnstileFixture fixture = new TurnstileFixture();
    private final ScriptedBackend engine = fixture.engine;
    private final DistributedLock both = fixture.client.multiLock("b", "a");

    @BeforeEach
    void answerAtOnce() {
        engine.answersAtOnce = true;
    }

    /** How often each grant was released, in the order in which they came. */
    private void assertGivenBack(int... releases) {
        assertThat(engine.grants.stream().mapToInt(grant -> grant.releases).toArray())
                .containsExactly(releases);
    }

    @Test
    void allAreTakenInOrderAndReleased() throws Exception {
        assertThat(both.name()).isEqualTo("a,b");
        assertThat(both).hasToString("DistributedLock[a,b]");
        both.lock();
        assertThat(engine.claims.stream().map(claim -> claim.request.name())).containsExactly("a", "b");
        assertThat(both.isHeldByCurrentThread()).isTrue();
        both.lockInterruptibly();
        assertThat(both.holdCount()).isEqualTo(2);
        both.unlock();
        assertThat(both.holdCount()).isEqualTo(1);
        assertGivenBack(0, 0);
        both.unlock();
        assertThat(both.isHeldByCurrentThread()).isFalse();
        assertThat(both.holdCount()).isZero();
        assertGivenBack(1, 1);
        assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(both::unlock);
    }

    @Test
    void callsWithATimeLimitTakeAllToo() throws Exception {
        assertThat(both.tryLock()).isTrue();
        both.unlock();
        assertThat(both.tryLock(1, TimeUnit.SECONDS)).isTrue();
        both.unlock();
        both.tryAcquire().orElseThrow().close();
        both.tryAcquire(Duration.ofSeconds(1)).orElseThrow().close();
        assertGivenBack(1, 1, 1, 1, 1, 1, 1, 1);
    }

    /** Another call of the process holds the second, so that it is known to be held without a question. */
    @Test
    void locksTakenBeforeAHeldOneAreReleased() {
        fixture.client.lock("b").acquireAsync().join();
        assertThat(both.tryLock()).isFalse();
        assertThat(both.tryAcquire()).isEmpty();
        assertThat(engine.claims.stream().map(claim -> claim.request.name())).containsExactly("b", "a", "a");
        assertGivenBack(0, 1, 1);
    }

    @Test
    void anAsynchronousCallEndsWhenTheLocksItTookAreReleased() {
        fixture.client.lock("b").acquireAsync().join();
        engine.answersAtOnce = false;
        CompletableFuture<Optional<Lease>> call = both.tryAcquireAsync(Duration.ZERO);
        engine.claim(1).grant();
        assertGivenBack(0, 1);
        assertThat(call).isNotDone();
        engine.grant(1).released.complete(true);
        assertThat(TurnstileFixture.get(call)).isEmpty();
    }

    @Test
    void aLossOfOneIsALossOfAllAndReportedOnce() throws Exception {
        Lease lease = both.acquire();
        assertThat(lease.lockName()).isEqualTo("a,b");
        assertThat(lease).hasToString("Lease[a,b]");
        assertThat(lease.isValid()).isTrue();
        assertThat(lease.remaining()).isEqualTo(ScriptedBackend.VALIDITY);
        lease.ensureValid();
        List<LossReason> told = new ArrayList<>();
        lease.onLost(told::add);
        engine.grant(1).signalLost(LossReason.REVOKED);
        engine.grant(0).signalLost(LossReason.SESSION_ENDED);
        assertThat(told).containsExactly(LossReason.REVOKED);
        assertThat(lease.isValid()).isFalse();
        assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::ensureValid);
    }

    @Test
    void oneLockAloneHasItsToken() throws Exception {
        try (Lease alone = fixture.client.multiLock("a").acquire()) {
            assertThat(alone.token()).isPositive();
        }
        try (Lease several = both.acquire()) {
            assertThatIllegalStateException().isThrownBy(several::token);
            assertThat(several.token("a")).isPositive();
        }
    }

    /** An engine that answers at once must not cost a part of the stack for each name. */
    @Test
    void thousandsOfNamesNeedNoDeepStack() {
        DistributedLock many = fixture.client.multiLock(names(20_000), LockOptions.defaults());
        Lease lease = TurnstileFixture.get(many.acquireAsync());
        assertThat(lease.isValid()).isTrue();
        TurnstileFixture.get(lease.closeAsync());
        assertThat(engine.grants).hasSize(20_000).allMatch(grant -> grant.releases == 1);
    }

    @Test
    void aMessageShowsSomeOfManyNames() {
        DistributedLock many = fixture.client.multiLock(names(200_000), LockOptions.defaults());
        assertThat(many.name())
                .hasSizeLessThan(1_000)
                .startsWith("name-000000,")
                .contains("199990");
        assertThat(many.names()).hasSize(200_000);
        assertThat(many.toString()).hasSizeLessThan(1_000);
        List<String> twice = new ArrayList<>(names(200_000));
        twice.add("name-000007");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> fixture.client.multiLock(twice, LockOptions.defaults()))
                .satisfies(
                        e -> assertThat(e.getMessage()).contains("name-000007").hasSizeLessThan(1_000));
    }

    private static List<String> names(int count) {
        return IntStream.range(0, count)
                .mapToObj(number -> String.format("name-%06d", number))
                .toList();
    }
}
