package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockListener;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.ReleaseNotConfirmedException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** An engine that does not answer is reported as such, never as a lock that is busy; when it is back, all works again. */
@Requires(Capability.BREAK_CONNECTION)
abstract class OutageContract extends ContractGroup {
    private static final Duration BOUND = shortRequestTimeout().plus(Bench.AT_ONCE);

    private final RecordingListener listener = new RecordingListener();
    private LockClient cutOff;
    private DistributedLock lock;

    OutageContract(LockContract contract) {
        super(contract);
    }

    @BeforeEach
    void openClientThatWillBeCutOff() {
        cutOff = openGivingUpSoon(builder -> builder.clientName("cut-off")
                .requestTimeout(shortRequestTimeout())
                .retryBackoff(Duration.ofMillis(10), Duration.ofMillis(50))
                .listener(listener));
        lock = cutOff.lock(NAME);
    }

    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"LOCK", "LOCK_INTERRUPTIBLY", "TRY_LOCK", "ACQUIRE", "TRY_ACQUIRE", "ACQUIRE_ASYNC"})
    void aCallWithoutADeadlineFailsAfterTheRequestTimeout(Way way) throws Exception {
        fixture().breakConnection(cutOff);
        assertThat(Bench.timed(() -> assertThatThrownBy(() -> way.take(lock, Duration.ZERO))
                        .isInstanceOfSatisfying(
                                LockUnavailableException.class,
                                away -> assertThat(away.lockName()).isEqualTo(NAME))
                        .hasMessageContaining(NAME)))
                .isLessThan(BOUND);
        worksAgain();
    }

    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"TRY_LOCK_TIMED", "TRY_ACQUIRE_TIMED", "TRY_ACQUIRE_ASYNC"})
    void aTimedCallWithoutContactIsUnknownAndNotBusy(Way way) throws Exception {
        fixture().breakConnection(cutOff);
        for (Duration wait : List.of(Duration.ZERO, Duration.ofMillis(100), Duration.ofMillis(700))) {
            Duration waited = Bench.timed(
                    () -> assertThatThrownBy(() -> way.take(lock, wait)).isInstanceOf(LockUnavailableException.class));
            assertThat(waited).isLessThan(wait.plus(BOUND));
        }
        worksAgain();
    }

    @Test
    void aCallThatWaitsFailsWhenTheEngineGoesDown() throws Exception {
        // Twice the timeout of the others: it must not be over before the engine has shown the waiter.
        LockClient told = openGivingUpSoon(builder -> builder.clientName("cut").requestTimeout(Duration.ofSeconds(2)));
        rivalLock().lock();
        Call<Boolean> waiting = actor("waiter")
                .starts(() -> assertThatThrownBy(told.lock(NAME)::lock).isInstanceOf(LockUnavailableException.class));
        bench().awaitWaiters(NAME, 1);
        fixture().breakConnection(told);
        waiting.get();
        rivalLock().unlock();
        fixture().healConnection(told);
        bench().awaitFree(NAME);
    }

    @Test
    void aCallThatHasTimeOutlastsAnOutage() throws Exception {
        fixture().breakConnection(cutOff);
        Call<Boolean> waiting = actor("waiter")
                .starts(() -> giveBack(lock.tryAcquire(Duration.ofSeconds(60)).orElseThrow()));
        Bench.letPass(shortRequestTimeout().multipliedBy(2));
        assertThat(waiting.isDone()).isFalse();
        fixture().healConnection(cutOff);
        waiting.get();
    }

    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"TRY_LOCK_TIMED", "TRY_ACQUIRE_TIMED", "TRY_ACQUIRE_ASYNC"})
    void aCallThatHasTimeFailsFastIfAskedTo(Way way) throws Exception {
        LockClient hasty = openGivingUpSoon(builder -> builder.clientName("hasty")
                .requestTimeout(shortRequestTimeout())
                .timedCallsFailFast());
        fixture().breakConnection(hasty);
        assertThat(Bench.timed(() -> assertThatThrownBy(() -> way.take(hasty.lock(NAME), Duration.ofSeconds(60)))
                        .isInstanceOf(LockUnavailableException.class)))
                .isLessThan(BOUND);
        fixture().healConnection(hasty);
        bench().awaitFree(NAME);
    }

    @Test
    void aWaiterThatHasTimeOutlastsAnOutage() throws Exception {
        rivalLock().lock();
        Call<Boolean> waiting = actor("waiter")
                .starts(() -> giveBack(lock.tryAcquire(Duration.ofSeconds(60)).orElseThrow()));
        bench().awaitWaiters(NAME, 1);
        fixture().breakConnection(cutOff);
        // The release comes while nobody can tell the waiter.
        rivalLock().unlock();
        Bench.letPass(shortRequestTimeout().multipliedBy(2));
        assertThat(waiting.isDone()).isFalse();
        fixture().healConnection(cutOff);
        waiting.get();
    }

    /** Tries begin again soon after each outage, however long they may be apart in the end. */
    @Test
    void triesSlowDownOnlyWhileAnOutageLasts() throws Exception {
        LockClient patient = openGivingUpSoon(builder -> builder.clientName("patient")
                .requestTimeout(shortRequestTimeout())
                .retryBackoff(Duration.ofMillis(100), Duration.ofMinutes(5)));
        Duration length = Duration.ofMillis(500);
        for (int outage = 0; outage < 4; outage++) {
            long begun = System.nanoTime();
            fixture().breakConnection(patient);
            Call<Boolean> waiting = actor("waiter-" + outage)
                    .starts(() -> giveBack(patient.lock(NAME)
                            .tryAcquire(Duration.ofSeconds(60))
                            .orElseThrow()));
            Bench.letPass(length);
            assertThat(waiting.isDone()).isFalse();
            fixture().healConnection(patient);
            // Each pause is twice the last one, so the last one is as long as the outage, which may last on a busy
            // machine.
            Duration longer = Duration.ofNanos(System.nanoTime() - begun).minus(length);
            assertThat(Bench.timed(waiting::get)).isLessThan(Bench.AT_ONCE.plus(longer));
        }
    }

    @Test
    void anInterruptIsHeardWhileTheEngineIsAway() throws Exception {
        fixture().breakConnection(cutOff);
        Actor waiter = actor("waiter");
        Call<Boolean> waiting = waiter.starts(() -> assertThatThrownBy(() -> lock.tryLock(60, TimeUnit.SECONDS))
                .isExactlyInstanceOf(InterruptedException.class));
        waiter.awaitParked();
        waiter.interrupt();
        waiting.get();
        worksAgain();
    }

    @Test
    void aReleaseThatIsNotConfirmedSaysSoAndContinues() throws Exception {
        takePatiently(lock);
        fixture().breakConnection(cutOff);
        assertThat(Bench.timed(() -> assertThatThrownBy(lock::unlock)
                        .isInstanceOf(ReleaseNotConfirmedException.class)
                        .hasMessageContaining(NAME)))
                .isLessThan(BOUND);
        assertThat(lock.isHeldByCurrentThread()).isFalse();
        assertThat(lock.holdCount()).isZero();
        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
        assertThat(bench().isFree(NAME)).isFalse();
        fixture().healConnection(cutOff);
        // Long before the ttl of 30 seconds.
        bench().awaitFree(NAME);
        worksAgain();
    }

    @Test
    void aLeaseThatCannotBeClosedSaysSoOnce() throws Exception {
        Lease lease = lock.tryAcquireAsync(Bench.PATIENCE).get().orElseThrow();
        fixture().breakConnection(cutOff);
        assertThatThrownBy(lease::close).isInstanceOf(ReleaseNotConfirmedException.class);
        assertThat(lease.isValid()).isFalse();
        lease.close();
        fixture().healConnection(cutOff);
        bench().awaitFree(NAME);
    }

    @Test
    void operatorsGetAnErrorToo() throws Exception {
        fixture().breakConnection(cutOff);
        assertThat(Bench.timed(() -> {
                    assertThatThrownBy(() -> cutOff.inspect(NAME)).isInstanceOf(LockUnavailableException.class);
                    assertThatThrownBy(() -> cutOff.list("order:"))
                            .isInstanceOf(LockUnavailableException.class)
                            .hasMessageContaining("order:")
                            .hasMessageContaining(bench().namespace());
                    assertThatThrownBy(() -> cutOff.forceRelease(NAME)).isInstanceOf(LockUnavailableException.class);
                }))
                .isLessThan(BOUND.multipliedBy(2));
        assertThatThrownBy(() ->
                        cutOff.template().waitAtMost(Duration.ofMillis(200)).execute(NAME, lease -> 1))
                .isInstanceOf(LockUnavailableException.class);
        worksAgain();
    }

    @Test
    void aHoldSurvivesWhileItsValidityLasts() throws Exception {
        Lease lease = lock.tryAcquire(Bench.PATIENCE).orElseThrow();
        fixture().breakConnection(cutOff);
        assertThatThrownBy(cutOff.lock("another")::lock).isInstanceOf(LockUnavailableException.class);
        assertThat(lease.isValid()).isTrue();
        fixture().healConnection(cutOff);
        Bench.await("the engine answers", this::answers);
        assertThat(lease.isValid()).isTrue();
        giveBack(lease);
    }

    @Test
    void listenersHearOfTheOutageAndOfItsEnd() {
        fixture().breakConnection(cutOff);
        assertThatThrownBy(lock::lock).isInstanceOf(LockUnavailableException.class);
        Bench.await("the outage is reported", () -> {
            if (listener.only(LockListener.Unreachable.class).isEmpty()) {
                assertThatThrownBy(lock::tryLock).isInstanceOf(LockUnavailableException.class);
            }
            return !listener.only(LockListener.Unreachable.class).isEmpty();
        });
        assertThat(listener.only(LockListener.Reachable.class)).isEmpty();
        fixture().healConnection(cutOff);
        Bench.await("the engine answers", this::answers);
        Bench.await(
                "its end is reported",
                () -> !listener.only(LockListener.Reachable.class).isEmpty());
        assertThat(listener.only(LockListener.Unreachable.class))
                .singleElement()
                .satisfies(event -> assertThat(event.silence())
                        .isGreaterThanOrEqualTo(shortRequestTimeout().minusMillis(50)));
        assertThat(listener.only(LockListener.Reachable.class))
                .singleElement()
                .satisfies(event -> assertThat(event.outage()).isPositive());
    }

    @Test
    void anotherClientDoesNotNotice() throws Exception {
        fixture().breakConnection(cutOff);
        try (Lease lease = rivalLock().acquire()) {
            assertThat(lease.isValid()).isTrue();
            assertThat(rival().inspect(NAME).holders()).hasSize(1);
        }
        worksAgain();
    }

    private boolean answers() {
        try {
            cutOff.inspect(NAME);
            return true;
        } catch (LockUnavailableException e) {
            return false;
        }
    }

    private void worksAgain() throws InterruptedException {
        fixture().healConnection(cutOff);
        Bench.await("the engine answers", this::answers);
        Lease lease = lock.tryAcquire(Bench.PATIENCE).orElseThrow();
        assertThat(lease.isValid()).isTrue();
        giveBack(lease);
        bench().awaitFree(NAME);
    }

    /** The test does not show that it is confirmed within so short a request timeout; if it is not, it continues. */
    private static void giveBack(Lease lease) {
        try {
            lease.close();
        } catch (ReleaseNotConfirmedException e) {
            // The next who asks waits for it.
        }
    }
}
