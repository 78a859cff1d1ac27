package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.DistributedLock;
import dev.lockstep.DistributedSemaphore;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.Permit;
import dev.lockstep.ReleaseNotConfirmedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * An engine that swallows every request costs a call one request timeout, not several. A call with a longer time of its own
 * ends at that time. The tests count timeouts: the bounds leave room for a busy machine, but not for a second timeout.
 */
@Requires(Capability.BREAK_CONNECTION)
abstract class SilentEngineContract extends ContractGroup {
    private static final Duration TIMEOUT = Duration.ofSeconds(3);
    private static final Duration ROOM = TIMEOUT.multipliedBy(9).dividedBy(10);
    private static final Duration ONE_TIMEOUT = TIMEOUT.plus(ROOM);
    private static final int THREADS = 6;

    private LockClient silenced;

    SilentEngineContract(LockContract contract) {
        super(contract);
    }

    @BeforeEach
    void openClientWhoseEngineWillBeSilent() {
        silenced = openGivingUpSoon(builder -> builder.clientName("silenced")
                .requestTimeout(TIMEOUT)
                .retryBackoff(Duration.ofMillis(10), Duration.ofMillis(50)));
    }

    @AfterEach
    void letTheEngineAnswer() {
        if (isRunning()) {
            fixture().healConnection(silenced);
        }
    }

    /** The second call finds no connection that was made before the silence. */
    @Tag("full")
    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"LOCK", "LOCK_INTERRUPTIBLY", "TRY_LOCK", "ACQUIRE", "TRY_ACQUIRE", "ACQUIRE_ASYNC"})
    void aCallWithoutATimeCostsOneTimeout(Way way) throws Exception {
        useOnce(silenced.lock(NAME));
        fixture().silence(silenced);
        for (String name : List.of(NAME, "order:43")) {
            DistributedLock lock = silenced.lock(name);
            assertThat(unavailable(() -> way.take(lock, Duration.ZERO))).isLessThan(ONE_TIMEOUT);
        }
    }

    /** A timed call ends within its time or one request timeout, whichever is longer. */
    private static Duration bound(Duration wait) {
        return wait.compareTo(TIMEOUT) > 0 ? wait.plus(ROOM) : ONE_TIMEOUT;
    }

    @Tag("full")
    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"TRY_LOCK_TIMED", "TRY_ACQUIRE_TIMED", "TRY_ACQUIRE_ASYNC"})
    void aTimedCallCostsItsTimeOrOneTimeout(Way way) throws Exception {
        useOnce(silenced.lock(NAME));
        fixture().silence(silenced);
        for (Duration wait : List.of(Duration.ZERO, TIMEOUT.dividedBy(4), TIMEOUT.multipliedBy(2))) {
            assertThat(unavailable(() -> way.take(silenced.lock(NAME), wait))).isLessThan(bound(wait));
        }
    }

    @Test
    @Requires(Capability.SHARED)
    void aReadLockCostsOneTimeout() throws Exception {
        useOnce(silenced.lock(NAME));
        fixture().silence(silenced);
        DistributedLock read = silenced.readWriteLock(NAME).readLock();
        assertThat(unavailable(read::lock)).isLessThan(ONE_TIMEOUT);
    }

    /** The engine cannot confirm that the call no longer waits, and has owed an answer for long by then. */
    @Test
    void aTimedWaitDuringWhichTheEngineFallsSilentEndsAtItsTime() throws Exception {
        rivalLock().lock();
        aWaitInSilenceEndsAtItsTime(wait -> silenced.lock(NAME).tryLock(wait.toMillis(), TimeUnit.MILLISECONDS));
        rivalLock().unlock();
    }

    @Tag("full")
    @Test
    @Requires(Capability.LIMITS)
    void aTimedWaitForAPermitDuringWhichTheEngineFallsSilentEndsAtItsTime() throws Exception {
        Permit permit = rival().semaphore(NAME, 1).acquire();
        aWaitInSilenceEndsAtItsTime(
                wait -> silenced.semaphore(NAME, 1).tryAcquire(wait).isPresent());
        permit.close();
    }

    /** The engine has not owed an answer for long by then, so the call waits for one; see docs/adr/0019. */
    @Tag("full")
    @Test
    void aTimedWaitWithASilenceShortlyBeforeItsEndEndsOneTimeoutLater() throws Exception {
        rivalLock().lock();
        Duration wait = TIMEOUT.multipliedBy(2);
        long started = System.nanoTime();
        Call<Duration> waiting =
                startWait(wait, time -> silenced.lock(NAME).tryLock(time.toMillis(), TimeUnit.MILLISECONDS));
        bench().awaitWaiters(NAME, 1);
        long almost = wait.minus(TIMEOUT.dividedBy(10)).toNanos();
        Bench.await("the end of the wait is near", () -> System.nanoTime() - started >= almost);
        fixture().silence(silenced);
        assertThat(waiting.get()).isBetween(wait, wait.plus(ONE_TIMEOUT));
        fixture().healConnection(silenced);
        rivalLock().unlock();
    }

    /** A call with a time of its own; whether it got what it asked for. */
    @FunctionalInterface
    private interface TimedCall {
        boolean take(Duration wait) throws InterruptedException;
    }

    /** For a call for what a rival holds. */
    private void aWaitInSilenceEndsAtItsTime(TimedCall call) throws Exception {
        Duration wait = TIMEOUT.multipliedBy(2);
        Call<Duration> waiting = startWait(wait, call);
        bench().awaitWaiters(NAME, 1);
        fixture().silence(silenced);
        assertThat(waiting.get()).isBetween(wait, wait.plus(ROOM));
        fixture().healConnection(silenced);
    }

    private Call<Duration> startWait(Duration wait, TimedCall call) throws Exception {
        return actor("waiter")
                .start(() -> Bench.timed(() -> {
                    try {
                        assertThat(call.take(wait)).isFalse();
                    } catch (LockUnavailableException e) {
                        // the same: unknown by then
                    }
                }));
    }

    @Test
    void aReleaseCostsOneTimeout() throws Exception {
        DistributedLock lock = silenced.lock(NAME);
        takePatiently(lock);
        Lease lease = silenced.lock("order:43").tryAcquire(Bench.PATIENCE).orElseThrow();
        fixture().silence(silenced);
        assertThat(unconfirmed(lock::unlock)).isLessThan(ONE_TIMEOUT);
        assertThat(unconfirmed(lease::close)).isLessThan(ONE_TIMEOUT);
    }

    /** A lock after the other is released, and the engine is silent for all of them. */
    @Tag("full")
    @Test
    void aReleaseOfSeveralLocksCostsOneTimeout() throws Exception {
        DistributedLock several = silenced.multiLock("several:1", "several:2", "several:3");
        takePatiently(several);
        Lease lease = silenced.multiLock("more:1", "more:2", "more:3")
                .tryAcquire(Bench.PATIENCE)
                .orElseThrow();
        fixture().silence(silenced);
        assertThat(unconfirmed(several::unlock)).isLessThan(ONE_TIMEOUT);
        assertThat(unconfirmed(lease::close)).isLessThan(ONE_TIMEOUT);
    }

    @Tag("full")
    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"LOCK", "TRY_LOCK", "ACQUIRE", "ACQUIRE_ASYNC"})
    void aCallForSeveralLocksCostsOneTimeout(Way way) throws Exception {
        useOnce(silenced.lock(NAME));
        fixture().silence(silenced);
        DistributedLock several = silenced.multiLock("several:1", "several:2", "several:3");
        assertThat(unavailable(() -> way.take(several, Duration.ZERO))).isLessThan(ONE_TIMEOUT);
    }

    @Tag("full")
    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"TRY_LOCK_TIMED", "TRY_ACQUIRE_TIMED", "TRY_ACQUIRE_ASYNC"})
    void aTimedCallForSeveralLocksCostsItsTimeOrOneTimeout(Way way) throws Exception {
        useOnce(silenced.lock(NAME));
        fixture().silence(silenced);
        for (Duration wait : List.of(TIMEOUT.dividedBy(4), TIMEOUT.multipliedBy(2))) {
            DistributedLock several = silenced.multiLock("several:1", "several:2", "several:3");
            assertThat(unavailable(() -> way.take(several, wait))).isLessThan(bound(wait));
        }
    }

    /** The call has one of its locks, and cannot release it. */
    @Tag("full")
    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"LOCK", "ACQUIRE_ASYNC"})
    void aWaitForTheSecondOfTwoLocksEndsOneTimeoutAfterTheLastAnswer(Way way) throws Exception {
        rival().lock("two:2").lock();
        Call<Long> waiting = actor("waiter").start(() -> {
            unavailable(() -> way.take(silenced.multiLock("two:1", "two:2"), Duration.ZERO));
            return System.nanoTime();
        });
        bench().awaitWaiters("two:2", 1);
        Bench.await("it has the first", () -> !bench().isFree("two:1"));
        fixture().silence(silenced);
        long silent = System.nanoTime();
        assertThat(Duration.ofNanos(waiting.get() - silent)).isLessThan(ONE_TIMEOUT);
        fixture().healConnection(silenced);
        rival().lock("two:2").unlock();
    }

    @Test
    @Requires(Capability.LIMITS)
    void aSemaphoreCostsOneTimeout() throws Exception {
        DistributedSemaphore semaphore = silenced.semaphore("semaphore", 2);
        Permit permit = semaphore.tryAcquire(Bench.PATIENCE).orElseThrow();
        fixture().silence(silenced);
        assertThat(unavailable(semaphore::acquire)).isLessThan(ONE_TIMEOUT);
        assertThat(unavailable(() -> semaphore.tryAcquire(TIMEOUT.dividedBy(4))))
                .isLessThan(ONE_TIMEOUT);
        assertThat(unconfirmed(permit::close)).isLessThan(ONE_TIMEOUT);
    }

    /** However few connections they share. */
    @Test
    void callsOfManyThreadsCostOneTimeoutEach() throws Exception {
        List<Actor> releasers = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            DistributedLock held = silenced.lock("held:" + i);
            releasers.add(actor("releaser-" + i));
            releasers.get(i).does(() -> takePatiently(held));
        }
        fixture().silence(silenced);
        List<Call<Duration>> calls = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            DistributedLock held = silenced.lock("held:" + i);
            DistributedLock free = silenced.lock("free:" + i);
            calls.add(releasers.get(i).start(() -> unconfirmed(held::unlock)));
            calls.add(actor("taker-" + i).start(() -> unavailable(free::lock)));
        }
        for (Call<Duration> call : calls) {
            assertThat(call.get()).isLessThan(ONE_TIMEOUT);
        }
    }

    /** A release that a busy machine does not confirm in time is made good in the background: the lock is used again. */
    private static void useOnce(DistributedLock lock) throws InterruptedException {
        boolean released = false;
        while (!released) {
            takePatiently(lock);
            try {
                lock.unlock();
                released = true;
            } catch (ReleaseNotConfirmedException e) {
                // the client has no connection that works then, and the tests need one
            }
        }
    }

    private static Duration unavailable(Call.Step call) throws Exception {
        return failing(call, LockUnavailableException.class);
    }

    private static Duration unconfirmed(Call.Step release) throws Exception {
        return failing(release, ReleaseNotConfirmedException.class);
    }

    private static Duration failing(Call.Step call, Class<?> type) throws Exception {
        return Bench.timed(() -> assertThatThrownBy(call::run).isInstanceOf(type));
    }
}
