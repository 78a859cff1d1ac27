package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Asynchronous calls hold no thread while they wait, and their leases belong only to the handle. */
abstract class AsyncContract extends ContractGroup {
    private static final int MANY = 500;

    /** The locks that many futures wait for in turn: so many that a thread for each would be noticed. */
    private static final int LOCKS = Bench.FEW_THREADS;

    AsyncContract(LockContract contract) {
        super(contract);
    }

    @Test
    void aLeaseOfAnAsynchronousCallMayBeClosedAnywhere() throws Exception {
        Lease lease = lock().acquireAsync().get();
        assertThat(lease.isValid()).isTrue();
        assertThat(lock().isHeldByCurrentThread()).isFalse();
        assertThat(bench().isFree(NAME)).isFalse();
        actor("another").does(lease::close);
        assertThat(lease.isValid()).isFalse();
        assertThat(bench().isFree(NAME)).isTrue();
    }

    @Test
    void aLeaseOfAnAsynchronousCallMayBeClosedWithoutWaitingAnywhere() throws Exception {
        Lease lease = lock().acquireAsync().get();
        actor("another").does(() -> lease.closeAsync().get(20, TimeUnit.SECONDS));
        assertThat(bench().isFree(NAME)).isTrue();
    }

    @Test
    void asynchronousHoldsExcludeEachOther() throws Exception {
        Lease first = lock().acquireAsync().get();
        CompletableFuture<Lease> second = lock().acquireAsync();
        CompletableFuture<Lease> third = rivalLock().acquireAsync();
        bench().awaitWaiters(NAME, 1);
        assertThat(second).isNotDone();
        assertThat(third).isNotDone();
        long token = first.token();
        first.close();
        CompletableFuture.anyOf(second, third).get(20, TimeUnit.SECONDS);
        Lease next = second.isDone() ? second.get() : third.get();
        CompletableFuture<Lease> last = second.isDone() ? third : second;
        assertThat(last).isNotDone();
        assertThat(next.token()).isGreaterThan(token);
        next.close();
        assertThat(last.get(20, TimeUnit.SECONDS)).satisfies(lease -> {
            assertThat(lease.token()).isGreaterThan(next.token());
            lease.close();
        });
    }

    @Alone
    @Test
    void waitingFuturesHoldNoThreads() throws Exception {
        LockClient holder = rival();
        List<Lease> held = new ArrayList<>();
        for (int i = 0; i < LOCKS; i++) {
            held.add(holder.lock("many-" + i).acquireAsync().get());
        }
        client().inspect(NAME);
        int before = Thread.activeCount();
        List<CompletableFuture<Lease>> waiting = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            waiting.add(client().lock("many-" + i % LOCKS).acquireAsync());
        }
        bench().awaitWaiters("many-0", 1);
        bench().awaitWaiters("many-" + (LOCKS - 1), 1);
        assertThat(Thread.activeCount() - before).isLessThan(Bench.FEW_THREADS);
        assertThat(waiting).noneMatch(CompletableFuture::isDone);
        held.forEach(Lease::close);
        List<CompletableFuture<Void>> closed = waiting.stream()
                .map(future -> future.thenCompose(Lease::closeAsync))
                .toList();
        for (CompletableFuture<Void> future : closed) {
            future.get(20, TimeUnit.SECONDS);
        }
    }

    @Test
    void futuresAreCompletedOnTheClientsExecutor() throws Exception {
        Set<Thread> own = ConcurrentHashMap.newKeySet();
        ExecutorService executor = Executors.newFixedThreadPool(3, task -> {
            Thread thread = new Thread(task, "users-own");
            own.add(thread);
            return thread;
        });
        try {
            LockClient client =
                    open(builder -> builder.clientName("own executor").executor(executor));
            rivalLock().lock();
            CompletableFuture<Thread> completing = client.lock(NAME)
                    .acquireAsync()
                    .thenApply(lease -> {
                        lease.close();
                        return Thread.currentThread();
                    });
            // From here on it is known that the lock is held, so that a time which is over says so.
            bench().awaitWaiters(NAME, 1);
            client.inspect(NAME);
            CompletableFuture<Thread> timingOut = client.lock(NAME)
                    .tryAcquireAsync(Duration.ofMillis(200))
                    .thenApply(lease -> Thread.currentThread());
            assertThat(own).contains(timingOut.get(20, TimeUnit.SECONDS));
            rivalLock().unlock();
            assertThat(own).contains(completing.get(20, TimeUnit.SECONDS));
            bench().awaitFree(NAME);
            client.close();
        } finally {
            executor.shutdown();
        }
    }

    @Test
    void aContinuationMayUseTheLockInTurn() throws Exception {
        // Continuations run on the client's executor, which may be blocked without stopping the client.
        CompletableFuture<Long> chained = lock().acquireAsync().thenApply(lease -> {
            lease.close();
            lock().lock();
            try (Lease again = lock().acquire()) {
                return again.token();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            } finally {
                lock().unlock();
            }
        });
        assertThat(chained.get(20, TimeUnit.SECONDS)).isPositive();
        assertThat(bench().isFree(NAME)).isTrue();
    }

    @Test
    void aTimedCallIsEmptyWhenItsTimeIsOver() throws Exception {
        rivalLock().lock();
        Bench.inVain(Duration.ofMillis(300), wait -> {
            Duration waited =
                    Bench.timed(() -> assertThat(lock().tryAcquireAsync(wait).get(60, TimeUnit.SECONDS))
                            .isEmpty());
            assertThat(waited).isGreaterThanOrEqualTo(wait);
        });
        assertThat(lock().tryAcquireAsync(Duration.ZERO).get(20, TimeUnit.SECONDS))
                .isEmpty();
        bench().awaitWaiters(NAME, 0);
        rivalLock().unlock();
        Optional<Lease> lease = lock().tryAcquireAsync(Duration.ZERO).get(20, TimeUnit.SECONDS);
        assertThat(lease).isPresent().get().satisfies(Lease::close);
    }

    @Test
    void aCancelledCallLeavesNothing() throws Exception {
        rivalLock().lock();
        CompletableFuture<Lease> waiting = lock().acquireAsync();
        CompletableFuture<Optional<Lease>> timed = lock().tryAcquireAsync(Duration.ofSeconds(60));
        bench().awaitWaiters(NAME, 1);
        assertThat(waiting.cancel(false)).isTrue();
        assertThat(timed.cancel(true)).isTrue();
        assertThat(waiting).isCancelled();
        bench().awaitWaiters(NAME, 0);
        rivalLock().unlock();
        assertThat(bench().isFree(NAME)).isTrue();
    }

    @Test
    void cancellingAfterTheGrantChangesNothing() throws Exception {
        CompletableFuture<Lease> future = lock().acquireAsync();
        Lease lease = future.get();
        assertThat(future.cancel(true)).isFalse();
        assertThat(lease.isValid()).isTrue();
        assertThat(bench().isFree(NAME)).isFalse();
        lease.close();
    }

    @Test
    void aFutureThatItsUserEndsInAnotherWayLeavesNothingEither() throws Exception {
        rivalLock().lock();
        CompletableFuture<Lease> impatient = lock().acquireAsync().orTimeout(50, TimeUnit.MILLISECONDS);
        CompletableFuture<Lease> failed = lock().acquireAsync();
        bench().awaitWaiters(NAME, 1);
        failed.completeExceptionally(new IllegalStateException("no longer needed"));
        Bench.await("the user's own timeout", impatient::isDone);
        rivalLock().unlock();
        bench().awaitFree(NAME);
    }

    @Test
    void aFutureThatItsUserCompletesWaitsNoLonger() throws Exception {
        rivalLock().lock();
        CompletableFuture<Optional<Lease>> impatient = lock().tryAcquireAsync(Duration.ofSeconds(60))
                .completeOnTimeout(Optional.empty(), 50, TimeUnit.MILLISECONDS);
        Bench.await("the user's own timeout", impatient::isDone);
        bench().awaitWaiters(NAME, 0);
        rivalLock().unlock();
        bench().awaitFree(NAME);
    }

    @Test
    void oneCancelledCallDoesNotTakeAnotherWithIt() throws Exception {
        rivalLock().lock();
        CompletableFuture<Lease> first = lock().acquireAsync();
        bench().awaitWaiters(NAME, 1);
        CompletableFuture<Lease> second = lock().acquireAsync();
        first.cancel(false);
        rivalLock().unlock();
        second.get(20, TimeUnit.SECONDS).close();
    }

    @Test
    void manyAsynchronousCallsAreEachServedOnce() throws Exception {
        int[] guarded = new int[1];
        AtomicInteger served = new AtomicInteger();
        List<CompletableFuture<Void>> done = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            DistributedLock lock = i % 2 == 0 ? lock() : rivalLock();
            done.add(lock.acquireAsync().thenCompose(lease -> {
                guarded[0]++;
                served.incrementAndGet();
                return lease.closeAsync();
            }));
        }
        for (CompletableFuture<Void> future : done) {
            future.get(60, TimeUnit.SECONDS);
        }
        assertThat(served).hasValue(MANY);
        assertThat(guarded[0]).isEqualTo(MANY);
    }
}
