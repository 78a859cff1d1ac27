package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockLostException;
import dev.lockstep.LockTemplate;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.LossReason;
import dev.lockstep.ReleaseNotConfirmedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A client that is closed releases what it holds, gives up what it waits for, and does so within a bound. */
abstract class CloseContract extends ContractGroup {
    CloseContract(LockContract contract) {
        super(contract);
    }

    private LockClient openClosing() {
        return open(builder -> builder.clientName("closing"));
    }

    @Test
    void itsHoldsAreReleasedAtOnce() throws Exception {
        LockClient closing = openClosing();
        closing.lock("sync").lock();
        closing.lock("sync").lock();
        Lease async = closing.lock("async").acquireAsync().get();
        CompletableFuture<Lease> next = rival().lock("sync").acquireAsync();
        bench().awaitWaiters("sync", 1);
        closing.close();
        next.get(20, TimeUnit.SECONDS).close();
        assertThat(bench().isFree("async")).isTrue();
        assertThat(async.isValid()).isFalse();
    }

    @Test
    void itsHoldsEndWithTheReason() throws Exception {
        RecordingListener listener = new RecordingListener();
        LockClient closing = open(builder -> builder.clientName("closing").listener(listener));
        Queue<LossReason> reasons = new ConcurrentLinkedQueue<>();
        DistributedLock lock = closing.lock("sync");
        lock.lock();
        Lease lease = closing.lock(NAME).acquire();
        lease.onLost(reasons::add);
        closing.close();
        assertThat(lease.isValid()).isFalse();
        assertThat(lease.remaining()).isZero();
        assertThat(lock.isHeldByCurrentThread()).isFalse();
        Bench.await(
                "the loss is reported",
                () -> reasons.size() == 1 && listener.lost().size() == 2);
        assertThat(reasons).containsExactly(LossReason.CLIENT_CLOSED);
        assertThat(listener.lost()).allMatch(lost -> lost.reason() == LossReason.CLIENT_CLOSED);
        assertThatThrownBy(lease::ensureValid)
                .isInstanceOfSatisfying(
                        LockLostException.class,
                        lost -> assertThat(lost.reason()).isEqualTo(LossReason.CLIENT_CLOSED));
        assertThatThrownBy(lease::close).isInstanceOf(LockLostException.class);
        lease.close();
        assertThatThrownBy(lock::unlock).isInstanceOf(LockLostException.class);
    }

    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"LOCK", "LOCK_INTERRUPTIBLY", "TRY_LOCK_TIMED", "ACQUIRE", "ACQUIRE_ASYNC", "TRY_ACQUIRE_ASYNC"})
    void callsThatWaitAtTheEngineFail(Way way) throws Exception {
        LockClient closing = openClosing();
        rivalLock().lock();
        Actor waiter = actor("waiter");
        Call<Boolean> waiting =
                waiter.starts(() -> assertThatThrownBy(() -> way.take(closing.lock(NAME), Duration.ofMinutes(5)))
                        .isInstanceOf(LockUnavailableException.class));
        waiter.awaitParked();
        bench().awaitWaiters(NAME, 1);
        closing.close();
        waiting.get();
        bench().awaitWaiters(NAME, 0);
        rivalLock().unlock();
    }

    @Test
    void callsThatWaitForAnotherThreadFail() throws Exception {
        LockClient closing = openClosing();
        Lease lease = closing.lock(NAME).acquireAsync().get();
        List<Call<?>> waiting = new ArrayList<>();
        for (Actor waiter : bench().actors("waiter", 5)) {
            waiting.add(waiter.starts(
                    () -> assertThatThrownBy(closing.lock(NAME)::lock).isInstanceOf(LockUnavailableException.class)));
            waiter.awaitParked();
        }
        closing.close();
        for (Call<?> call : waiting) {
            call.get();
        }
        assertThat(lease.isValid()).isFalse();
        assertThat(bench().isFree(NAME)).isTrue();
    }

    @Test
    void aClosedClientRefusesCalls() {
        LockClient closing = openClosing();
        DistributedLock lock = closing.lock(NAME);
        DistributedLock multiLock = closing.multiLock("a", "b");
        LockTemplate template = closing.template();
        closing.close();
        refused(() -> closing.lock(NAME));
        refused(() -> closing.readWriteLock(NAME));
        refused(() -> closing.multiLock("a"));
        refused(closing::template);
        refused(() -> closing.inspect(NAME));
        refused(() -> closing.list(""));
        refused(() -> closing.forceRelease(NAME));
        refused(() -> template.execute(NAME, lease -> 1));
        for (DistributedLock old : List.of(lock, multiLock)) {
            refused(old::lock);
            refused(old::lockInterruptibly);
            refused(old::tryLock);
            refused(() -> old.tryLock(1, TimeUnit.SECONDS));
            refused(old::acquire);
            refused(old::tryAcquire);
            refused(() -> old.tryAcquire(Duration.ofSeconds(1)));
            refused(() -> Way.ACQUIRE_ASYNC.take(old, Duration.ZERO));
            refused(() -> Way.TRY_ACQUIRE_ASYNC.take(old, Duration.ZERO));
            assertThat(old.isHeldByCurrentThread()).isFalse();
        }
    }

    @Test
    void aClientMayBeClosedTwiceAndByTwo() throws Exception {
        LockClient closing = openClosing();
        closing.lock(NAME).acquireAsync().get();
        CountDownLatch start = new CountDownLatch(1);
        List<Call<?>> calls = new ArrayList<>();
        for (Actor closer : bench().actors("closer", 3)) {
            calls.add(closer.starts(() -> {
                start.await();
                closing.close();
            }));
        }
        start.countDown();
        for (Call<?> call : calls) {
            call.get();
        }
        closing.close();
        assertThat(bench().isFree(NAME)).isTrue();
    }

    @Test
    void aClientMayBeClosedDuringWork() throws Exception {
        LockClient closing = openClosing();
        List<Call<?>> calls = new ArrayList<>();
        CountDownLatch busy = new CountDownLatch(6);
        for (int i = 0; i < 6; i++) {
            String name = i % 2 == 0 ? NAME : "another";
            calls.add(actor("busy-" + i).starts(() -> {
                try {
                    while (true) {
                        closing.lock(name).lock();
                        busy.countDown();
                        closing.lock(name).unlock();
                    }
                } catch (LockUnavailableException | ReleaseNotConfirmedException | LockLostException e) {
                    // It was waiting, or holding.
                } catch (IllegalStateException e) {
                    // It was between two calls.
                }
            }));
        }
        busy.await();
        closing.close();
        for (Call<?> call : calls) {
            call.get();
        }
        assertThat(bench().isFree(NAME)).isTrue();
        assertThat(bench().isFree("another")).isTrue();
    }

    @Test
    void aClientMayBeClosedByItsOwnCallBack() throws Exception {
        LockClient closing = openClosing();
        rivalLock().lock();
        CompletableFuture<Void> closed = closing.lock(NAME).acquireAsync().thenAccept(lease -> closing.close());
        bench().awaitWaiters(NAME, 1);
        rivalLock().unlock();
        closed.get(20, TimeUnit.SECONDS);
        assertThat(bench().isFree(NAME)).isTrue();
    }

    @Test
    void closingOneClientDoesNotAffectAnother() throws Exception {
        LockClient closing = openClosing();
        closing.lock("another").lock();
        try (Lease lease = rivalLock().acquire()) {
            closing.close();
            assertThat(lease.isValid()).isTrue();
            assertThat(bench().isFree(NAME)).isFalse();
        }
    }

    @Alone
    @Test
    void itsThreadsEndWithIt() throws Exception {
        client().lock(NAME).lock();
        client().lock(NAME).unlock();
        bench().isFree(NAME);
        Set<Thread> before = Thread.getAllStackTraces().keySet();
        int closed = 20;
        for (int i = 0; i < closed; i++) {
            LockClient closing = openClosing();
            closing.lock(NAME + i).lock();
            closing.lock("async").acquireAsync().get();
            closing.close();
        }
        // A few may be new: of the clients that stay open, of the test, of an engine inside this process.
        Bench.awaitAsserted("threads end", () -> {
            Set<Thread> more = new HashSet<>(Thread.getAllStackTraces().keySet());
            more.removeAll(before);
            assertThat(more).hasSizeLessThan(closed / 2);
        });
    }

    @Test
    @Requires(Capability.BREAK_CONNECTION)
    void closingIsBoundedWhenTheEngineIsAway() throws Exception {
        LockClient closing = openImpatient("closing");
        Lease lease = closing.lock(NAME).tryAcquireAsync(Bench.PATIENCE).get().orElseThrow();
        rival().lock("another").lock();
        CompletableFuture<Optional<Lease>> waiting = closing.lock("another").tryAcquireAsync(Duration.ofMinutes(5));
        bench().awaitWaiters("another", 1);
        fixture().breakConnection(closing);
        assertThat(Bench.timed(closing::close)).isLessThan(shortRequestTimeout().plus(Bench.AT_ONCE));
        assertThat(lease.isValid()).isFalse();
        assertThatThrownBy(() -> waiting.get(20, TimeUnit.SECONDS)).hasCauseInstanceOf(LockUnavailableException.class);
        rival().lock("another").unlock();
        // A lock that could not be released is free after the ttl.
        bench().awaitFree(NAME);
        bench().awaitFree("another");
    }

    private static void refused(ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOf(IllegalStateException.class);
    }
}
