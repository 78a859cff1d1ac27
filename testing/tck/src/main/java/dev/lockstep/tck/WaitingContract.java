package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockOptions;
import dev.lockstep.LockTimeoutException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** {@code tryLock} never waits; a timed wait is neither shorter nor longer than its time, and ends with the lock's release. */
abstract class WaitingContract extends ContractGroup {
    WaitingContract(LockContract contract) {
        super(contract);
    }

    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"TRY_LOCK", "TRY_ACQUIRE"})
    void aTryDoesNotWaitForAnotherClient(Way way) throws Exception {
        rivalLock().lock();
        assertThat(Bench.timed(() -> assertThat(way.take(lock(), Duration.ZERO)).isEmpty()))
                .isLessThan(Bench.AT_ONCE);
        assertThat(client().inspect(NAME).waiters()).isEmpty();
        rivalLock().unlock();
    }

    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"TRY_LOCK", "TRY_ACQUIRE"})
    void aTryDoesNotWaitForAnotherThreadOfTheClient(Way way) throws Exception {
        lock().lock();
        actor("another")
                .does(() -> assertThat(Bench.timed(() ->
                                assertThat(way.take(lock(), Duration.ZERO)).isEmpty()))
                        .isLessThan(Bench.AT_ONCE));
        lock().unlock();
    }

    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"TRY_LOCK", "TRY_ACQUIRE"})
    void aTryDoesNotWaitBehindAThreadOfTheClientThatWaits(Way way) throws Exception {
        rivalLock().lock();
        Actor waiter = actor("waiter");
        Call<Boolean> waiting = waiter.starts(() -> lock().lock());
        bench().awaitWaiters(NAME, 1);
        assertThat(Bench.timed(() -> assertThat(way.take(lock(), Duration.ZERO)).isEmpty()))
                .isLessThan(Bench.AT_ONCE);
        rivalLock().unlock();
        waiting.get();
        waiter.does(() -> lock().unlock());
    }

    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"TRY_LOCK_TIMED", "TRY_LOCK_DURATION", "TRY_ACQUIRE_TIMED", "TRY_ACQUIRE_ASYNC"})
    void noTimeToWaitMeansNoWait(Way way) throws Exception {
        rivalLock().lock();
        assertThat(Bench.timed(() -> assertThat(way.take(lock(), Duration.ZERO)).isEmpty()))
                .isLessThan(Bench.AT_ONCE);
        rivalLock().unlock();
        Way.Hold hold = way.take(lock(), Duration.ZERO).orElseThrow();
        hold.release();
    }

    @Test
    void aNegativeTimeMeansNoWait() throws Exception {
        rivalLock().lock();
        DistributedLock several = client().multiLock(NAME, "order:43");
        assertThat(Bench.timed(() -> {
                    for (DistributedLock lock : List.of(lock(), several)) {
                        assertThat(lock.tryLock(-1, TimeUnit.DAYS)).isFalse();
                        assertThat(lock.tryLock(Long.MIN_VALUE, TimeUnit.NANOSECONDS))
                                .isFalse();
                        for (Duration wait : List.of(
                                Duration.ofNanos(-1),
                                Duration.ofSeconds(Long.MIN_VALUE),
                                ChronoUnit.FOREVER.getDuration().negated())) {
                            assertThat(lock.tryAcquire(wait)).isEmpty();
                            assertThat(lock.tryAcquireAsync(wait).get(20, TimeUnit.SECONDS))
                                    .isEmpty();
                        }
                    }
                    assertThatThrownBy(() -> client().template()
                                    .waitAtMost(Duration.ofSeconds(-1))
                                    .execute(NAME, lease -> 1))
                            .isInstanceOf(LockTimeoutException.class);
                }))
                .isLessThan(Bench.AT_ONCE);
        rivalLock().unlock();
        assertThat(lock().tryLock(-1, TimeUnit.DAYS)).isTrue();
        lock().unlock();
    }

    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"TRY_LOCK_TIMED", "TRY_ACQUIRE_TIMED", "TRY_ACQUIRE_ASYNC"})
    void aTimedWaitForAnotherClientLastsItsTime(Way way) throws Exception {
        rivalLock().lock();
        lastsItsTime(way);
        bench().awaitWaiters(NAME, 0);
        rivalLock().unlock();
    }

    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"TRY_LOCK_TIMED", "TRY_ACQUIRE_TIMED", "TRY_ACQUIRE_ASYNC"})
    void aTimedWaitForAnotherThreadOfTheClientLastsItsTime(Way way) throws Exception {
        Actor holder = actor("holder");
        holder.does(() -> lock().lock());
        lastsItsTime(way);
        holder.does(() -> lock().unlock());
    }

    private void lastsItsTime(Way way) throws Exception {
        Bench.inVain(Duration.ofMillis(300), wait -> {
            Duration waited =
                    Bench.timed(() -> assertThat(way.take(lock(), wait)).isEmpty());
            assertThat(waited).isGreaterThanOrEqualTo(wait).isLessThan(wait.plus(Bench.AT_ONCE));
        });
    }

    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"TRY_LOCK_TIMED", "TRY_ACQUIRE_TIMED", "TRY_ACQUIRE_ASYNC"})
    void aTimedWaitEndsWhenTheLockIsReleased(Way way) throws Exception {
        rivalLock().lock();
        Call<Boolean> waiting = actor("waiter")
                .starts(() ->
                        way.take(lock(), Duration.ofMinutes(5)).orElseThrow().release());
        bench().awaitWaiters(NAME, 1);
        rivalLock().unlock();
        waiting.get();
    }

    @Test
    void aCallThatTimedOutKeepsNoOtherFromTheLock() throws Exception {
        keepsNobodyFromTheLock(LockOptions.defaults(), this::timesOut);
    }

    @Test
    @Requires(Capability.FAIR)
    void aFairCallThatTimedOutKeepsNoOtherFromTheLock() throws Exception {
        keepsNobodyFromTheLock(LockOptions.defaults().fair(), this::timesOut);
    }

    @Test
    void anAsynchronousCallThatTimedOutKeepsNoOtherFromTheLock() throws Exception {
        keepsNobodyFromTheLock(
                LockOptions.defaults(),
                (waiter, wait) -> assertThat(waiter.tryAcquireAsync(wait).get()).isEmpty());
    }

    @Test
    void anInterruptedCallKeepsNoOtherFromTheLock() throws Exception {
        keepsNobodyFromTheLock(LockOptions.defaults(), this::isInterrupted);
    }

    @Test
    @Requires(Capability.FAIR)
    void aFairInterruptedCallKeepsNoOtherFromTheLock() throws Exception {
        keepsNobodyFromTheLock(LockOptions.defaults().fair(), this::isInterrupted);
    }

    /** A cancelled call counts as waiting until the engine has confirmed its withdrawal, and no longer. */
    @Test
    void aCancelledCallKeepsNoOtherFromTheLockForLong() throws Exception {
        for (int i = 0; i < 10; i++) {
            lock().lock();
            CompletableFuture<Lease> cancelled = rivalLock().acquireAsync();
            Bench.letPass(Duration.ofMillis(i));
            assertThat(cancelled.cancel(false)).isTrue();
            lock().unlock();
            bench().awaitFree(NAME); // for a third client, when the withdrawal is confirmed
        }
        bench().awaitNoWaiters(NAME); // a request that had not arrived at the engine may still have to be withdrawn
    }

    /** A call that ends without the lock. */
    private interface InVain {
        void call(DistributedLock waiter, Duration wait) throws Exception;
    }

    private void timesOut(DistributedLock waiter, Duration wait) throws Exception {
        assertThat(waiter.tryLock(wait.toMillis(), TimeUnit.MILLISECONDS)).isFalse();
    }

    private void isInterrupted(DistributedLock waiter, Duration wait) throws Exception {
        Actor interrupted = actor("interrupted");
        Call<Boolean> waiting = interrupted.starts(
                () -> assertThatThrownBy(waiter::lockInterruptibly).isExactlyInstanceOf(InterruptedException.class));
        Bench.letPass(wait);
        interrupted.interrupt();
        waiting.get();
    }

    /** Once a call has returned and the holder has unlocked, nobody is there any more: a third client finds the lock free. */
    private void keepsNobodyFromTheLock(LockOptions options, InVain inVain) throws Exception {
        DistributedLock holder = client().lock(NAME, options);
        DistributedLock waiter = rival().lock(NAME, options);
        DistributedLock third = bench().client("third").lock(NAME, options);
        for (int i = 0; i < 40; i++) {
            holder.lock();
            inVain.call(waiter, Duration.ofMillis(5 + i % 10));
            holder.unlock();
            assertThat(third.tryLock()).as("try %d: nobody holds the lock", i).isTrue();
            third.unlock();
        }
    }

    @Test
    void aWaitThatIsShorterThanARoundTripIsAnswered() throws Exception {
        for (int i = 0; i < 60; i++) {
            shortWaitIsAnswered(lock(), Duration.ofNanos(i * 150_000L));
        }
    }

    @Test
    @Requires(Capability.SLOW_DOWN)
    void aWaitThatIsShorterThanASlowRoundTripIsAnswered() throws Exception {
        DistributedLock slow = client().lock(NAME);
        shortWaitIsAnswered(slow, Duration.ZERO);
        fixture().slowDown(client(), Duration.ofMillis(50));
        try {
            for (int i = 0; i < 10; i++) {
                shortWaitIsAnswered(slow, Duration.ofMillis(i));
            }
        } finally {
            fixture().healConnection(client());
        }
    }

    private void shortWaitIsAnswered(DistributedLock lock, Duration wait) throws Exception {
        assertThat(lock.tryLock(wait.toNanos(), TimeUnit.NANOSECONDS))
                .as("a wait of %s for a free lock", wait)
                .isTrue();
        lock.unlock();
        lock.tryAcquireAsync(wait).get().orElseThrow().closeAsync().get();
        rivalLock().lock();
        assertThat(lock.tryLock(wait.toNanos(), TimeUnit.NANOSECONDS))
                .as("a wait of %s for a lock that is held", wait)
                .isFalse();
        assertThat(lock.tryAcquireAsync(wait).get()).isEmpty();
        rivalLock().unlock();
    }

    @Test
    @Requires(Capability.SHOWS_WAITERS)
    void aTimedWaitIsSpentOnceEvenIfItBeginsLocallyAndEndsAtTheEngine() throws Exception {
        // The waiter first waits for a thread of its own client, then for the rival, which an engine with a queue
        // serves before it.
        Duration wait = Duration.ofSeconds(3);
        DistributedLock lock = client().lock(NAME, LockOptions.defaults().handOff(0));
        lock.lock();
        Actor rivalHolder = actor("rival");
        Call<Boolean> rivalWait = rivalHolder.starts(() -> rivalLock().lock());
        bench().awaitWaiters(NAME, 1);
        CountDownLatch begun = new CountDownLatch(1);
        Call<Long> ended = actor("waiter").start(() -> {
            begun.countDown();
            assertThat(Bench.timed(() -> assertThat(lock.tryLock(wait.toMillis(), TimeUnit.MILLISECONDS))
                            .isFalse()))
                    .isGreaterThanOrEqualTo(wait);
            return System.nanoTime();
        });
        begun.await();
        Bench.letPass(wait.minusSeconds(1));
        long freed = System.nanoTime();
        lock.unlock();
        rivalWait.get();
        // A wait that starts again at the engine would only begin its full time then.
        assertThat(Duration.ofNanos(ended.get() - freed)).isLessThan(wait);
        rivalHolder.does(() -> rivalLock().unlock());
    }

    @Test
    void anEndlessTimeIsNoOverflow() throws Exception {
        assertThat(lock().tryLock(Long.MAX_VALUE, TimeUnit.DAYS)).isTrue();
        Actor waiter = actor("waiter");
        Call<Boolean> sync = waiter.starts(() -> {
            rivalLock()
                    .tryAcquire(Duration.ofSeconds(Long.MAX_VALUE))
                    .orElseThrow()
                    .close();
            rivalLock()
                    .tryAcquireAsync(Duration.ofSeconds(Long.MAX_VALUE))
                    .get()
                    .orElseThrow()
                    .close();
        });
        bench().awaitWaiters(NAME, 1);
        assertThat(sync.isDone()).isFalse();
        lock().unlock();
        sync.get();
    }

    @Alone
    @Test
    @Requires(Capability.COUNT_REQUESTS)
    void waitingIsNotSpinning() throws Exception {
        rivalLock().lock();
        Actor waiter = actor("waiter");
        Call<Boolean> waiting = waiter.starts(() -> lock().lock());
        bench().awaitWaiters(NAME, 1);
        long before = fixture().requestCount();
        long start = System.nanoTime();
        Bench.letPass(Duration.ofSeconds(1));
        long requests = fixture().requestCount() - before;
        assertThat(requests / (double) (System.nanoTime() - start) * 1e9)
                .as("requests in a second")
                .isLessThan(100);
        rivalLock().unlock();
        waiting.get();
        waiter.does(() -> lock().unlock());
    }
}
