package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.DistributedLock;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** An interrupt ends an interruptible wait with an InterruptedException itself, and leaves nothing behind. */
abstract class InterruptContract extends ContractGroup {
    private static final Duration LONG = Duration.ofSeconds(60);

    InterruptContract(LockContract contract) {
        super(contract);
    }

    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"LOCK_INTERRUPTIBLY", "TRY_LOCK_TIMED", "TRY_LOCK_DURATION", "ACQUIRE", "TRY_ACQUIRE_TIMED"})
    void anInterruptOnEntryIsReportedEvenIfTheLockIsFree(Way way) throws Exception {
        Actor actor = actor("interrupted");
        boolean flagAfterwards = actor.call(() -> {
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> way.take(lock(), LONG)).isExactlyInstanceOf(InterruptedException.class);
            return Thread.currentThread().isInterrupted();
        });
        assertThat(flagAfterwards).isFalse();
        assertThat(bench().isFree(NAME)).isTrue();
        assertThat(lock().tryLock()).isTrue();
        lock().unlock();
    }

    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"TRY_LOCK_TIMED", "TRY_LOCK_DURATION", "TRY_ACQUIRE_TIMED"})
    void anInterruptOnEntryIsReportedEvenIfThereIsNoTimeToWait(Way way) throws Exception {
        actor("interrupted").does(() -> {
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> way.take(lock(), Duration.ZERO)).isExactlyInstanceOf(InterruptedException.class);
        });
    }

    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"LOCK_INTERRUPTIBLY", "TRY_LOCK_TIMED", "ACQUIRE", "TRY_ACQUIRE_TIMED"})
    void anInterruptOnEntryIsReportedEvenOnReentry(Way way) throws Exception {
        actor("interrupted").does(() -> {
            lock().lock();
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> way.take(lock(), LONG)).isExactlyInstanceOf(InterruptedException.class);
            assertThat(lock().holdCount()).isEqualTo(1);
            lock().unlock();
        });
    }

    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"LOCK", "TRY_LOCK", "ACQUIRE_UNINTERRUPTIBLY", "TRY_ACQUIRE"})
    void otherWaysTakeTheLockAndKeepTheFlag(Way way) throws Exception {
        actor("interrupted").does(() -> {
            Thread.currentThread().interrupt();
            Way.Hold hold = way.take(lock(), LONG).orElseThrow();
            assertThat(Thread.currentThread().isInterrupted()).isTrue();
            assertThat(lock().isHeldByCurrentThread()).isTrue();
            hold.release();
            assertThat(Thread.interrupted()).isTrue();
        });
        assertThat(bench().isFree(NAME)).isTrue();
    }

    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"TRY_LOCK", "TRY_ACQUIRE"})
    void aBusyLockIsReportedBusyToAnInterruptedThread(Way way) throws Exception {
        rivalLock().lock();
        actor("interrupted").does(() -> {
            Thread.currentThread().interrupt();
            assertThat(way.take(lock(), LONG)).isEmpty();
            assertThat(Thread.interrupted()).isTrue();
        });
        rivalLock().unlock();
    }

    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"LOCK_INTERRUPTIBLY", "TRY_LOCK_TIMED", "ACQUIRE", "TRY_ACQUIRE_TIMED"})
    void anInterruptEndsAWaitForAnotherClient(Way way) throws Exception {
        rivalLock().lock();
        Actor waiter = actor("waiter");
        Call<Boolean> waiting = waiter.start(() -> waitIsInterrupted(way, lock()));
        bench().awaitWaiters(NAME, 1);
        waiter.interrupt();
        assertThat(waiting.get()).isTrue();
        bench().awaitWaiters(NAME, 0);
        assertThat(bench().isFree(NAME)).isFalse();
        rivalLock().unlock();
        assertThat(lock().tryLock()).isTrue();
        lock().unlock();
    }

    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"LOCK_INTERRUPTIBLY", "TRY_LOCK_TIMED", "ACQUIRE", "TRY_ACQUIRE_TIMED"})
    void anInterruptEndsAWaitForAnotherThreadOfTheClient(Way way) throws Exception {
        lock().lock();
        Actor waiter = actor("waiter");
        Call<Boolean> waiting = waiter.start(() -> waitIsInterrupted(way, lock()));
        waiter.awaitParked();
        waiter.interrupt();
        assertThat(waiting.get()).isTrue();
        assertThat(lock().isHeldByCurrentThread()).isTrue();
        lock().unlock();
        bench().awaitFree(NAME);
    }

    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"LOCK", "ACQUIRE_UNINTERRUPTIBLY"})
    void otherWaysKeepWaitingForAnotherClientAndKeepTheInterrupt(Way way) throws Exception {
        rivalLock().lock();
        keepsWaiting(way, () -> rivalLock().unlock());
    }

    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"LOCK", "ACQUIRE_UNINTERRUPTIBLY"})
    void otherWaysKeepWaitingForAnotherThreadAndKeepTheInterrupt(Way way) throws Exception {
        lock().lock();
        keepsWaiting(way, () -> lock().unlock());
    }

    @Test
    void theNextThreadOfTheClientKeepsThePlaceOfOneThatGaveUp() throws Exception {
        rivalLock().lock();
        Actor first = actor("first");
        Call<Boolean> firstWait = first.start(() -> waitIsInterrupted(Way.LOCK_INTERRUPTIBLY, lock()));
        bench().awaitWaiters(NAME, 1);
        Actor second = actor("second");
        Call<Boolean> secondWait = second.starts(() -> lock().lock());
        second.awaitParked();
        first.interrupt();
        assertThat(firstWait.get()).isTrue();
        bench().awaitWaiters(NAME, 1);
        rivalLock().unlock();
        secondWait.get();
        second.does(() -> lock().unlock());
    }

    private static boolean waitIsInterrupted(Way way, DistributedLock lock) {
        assertThatThrownBy(() -> way.take(lock, LONG)).isExactlyInstanceOf(InterruptedException.class);
        return !Thread.currentThread().isInterrupted();
    }

    private void keepsWaiting(Way way, Call.Step release) throws Exception {
        DistributedLock lock = lock(); // here: a client that the waiter connects would be interrupted while it connects
        Actor waiter = actor("waiter");
        Call<Boolean> waiting = waiter.start(() -> {
            Way.Hold hold = way.take(lock, LONG).orElseThrow();
            boolean flag = Thread.interrupted();
            hold.release();
            return flag;
        });
        waiter.awaitParked();
        waiter.interrupt();
        // It must not return; that it has seen the interrupt is shown by its being parked again.
        Bench.letPass(Duration.ofMillis(100));
        assertThat(waiting.isDone() ? waiting.get() : null)
                .as("what a call returned that had to go on waiting")
                .isNull();
        waiter.awaitParked();
        release.run();
        assertThat(waiting.get()).isTrue();
    }
}
