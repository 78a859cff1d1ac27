package dev.lockstep.internal.events;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.DistributedLock;
import dev.lockstep.DistributedReadWriteLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockListener;
import dev.lockstep.LockLostException;
import dev.lockstep.LockObserver;
import dev.lockstep.LockObserver.CallOutcome;
import dev.lockstep.LockObserver.HoldOutcome;
import dev.lockstep.LockOptions;
import dev.lockstep.LossReason;
import dev.lockstep.SelfDeadlockException;
import dev.lockstep.internal.Undeclared;
import dev.lockstep.logs.ThreadLogs;
import dev.lockstep.memory.MemoryEngine;
import dev.lockstep.spi.RequestObserver;
import dev.lockstep.spi.VirtualScheduler;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Observers see each call and each hold once, in the caller's thread, and change nothing. */
class ObserverTest {
    private final Counts counts = new Counts();
    private final MemoryEngine engine = new MemoryEngine();
    private final LockClient client =
            LockClient.builder().backend(engine).observer(counts).connect();

    @AfterEach
    void close() {
        client.close();
    }

    /** Counts, and checks the order of what it sees. */
    static final class Counts implements LockObserver {
        final AtomicLong started = new AtomicLong();
        final AtomicLong waiting = new AtomicLong();
        final AtomicLong handOffs = new AtomicLong();
        final AtomicLong wrongThread = new AtomicLong();
        final AtomicLong wrongOrder = new AtomicLong();
        final AtomicLongArray calls = new AtomicLongArray(CallOutcome.values().length);
        final AtomicLongArray holds = new AtomicLongArray(HoldOutcome.values().length);
        final Queue<LossReason> losses = new ConcurrentLinkedQueue<>();
        volatile @Nullable LockClient opened;

        @Override
        public void clientOpened(LockClient client) {
            opened = client;
        }

        @Override
        public void handedOff(LockListener.HandedOff event) {
            handOffs.incrementAndGet();
        }

        @Override
        public CallObserver callStarted(Call call) {
            started.incrementAndGet();
            Thread caller = Thread.currentThread();
            return new CallObserver() {
                private volatile @Nullable CallOutcome outcome;
                private volatile boolean over;

                @Override
                public void waiting() {
                    waiting.incrementAndGet(); // by the caller, or by the executor if the engine answers later
                    note(outcome != null, wrongOrder);
                }

                @Override
                public void callEnded(CallEnd end) {
                    note(!call.isAsync() && Thread.currentThread() != caller, wrongThread);
                    note(outcome != null, wrongOrder);
                    outcome = end.outcome();
                    calls.incrementAndGet(end.outcome().ordinal());
                }

                @Override
                public void holdEnded(HoldEnd end) {
                    note(outcome != CallOutcome.ACQUIRED || over, wrongOrder);
                    over = true;
                    boolean lost = end.outcome() == HoldOutcome.LOST;
                    note(!lost && !call.isAsync() && Thread.currentThread() != caller, wrongThread);
                    note(lost != end.lossReason().isPresent(), wrongOrder);
                    end.lossReason().ifPresent(losses::add);
                    holds.incrementAndGet(end.outcome().ordinal());
                }
            };
        }

        private static void note(boolean wrong, AtomicLong count) {
            if (wrong) {
                count.incrementAndGet();
            }
        }

        long of(CallOutcome outcome) {
            return calls.get(outcome.ordinal());
        }

        long of(HoldOutcome outcome) {
            return holds.get(outcome.ordinal());
        }

        private static long sum(AtomicLongArray counts) {
            return IntStream.range(0, counts.length()).mapToLong(counts::get).sum();
        }

        long ended() {
            return sum(calls);
        }

        long holdsEnded() {
            return sum(holds);
        }
    }

    @Test
    void clientIsNamedBeforeItConnectsAndAfterItWasClosed() {
        List<String> seen = new ArrayList<>();
        LockObserver observer = new LockObserver() {
            @Override
            public void clientOpening(ClientInfo client) {
                seen.add("opening " + client.name() + " on " + client.engine());
            }

            @Override
            public void clientOpened(LockClient client) {
                seen.add("opened " + client.name());
            }

            @Override
            public void clientClosed(LockClient client) {
                seen.add("closed " + client.name());
            }
        };
        LockClient.builder()
                .url("memory:")
                .clientName("me")
                .observer(observer)
                .connect()
                .close();
        assertThat(seen).containsExactly("opening me on memory", "opened me", "closed me");
    }

    /** Names each call of a multi-lock, and the calls that follow the first by it, too. */
    private record Chain(List<String> seen) implements LockObserver {
        private record Link(String lock) implements CallObserver {}

        @Override
        public CallObserver callStarted(Call call) {
            seen.add(call.lockName() + " by " + Thread.currentThread().getName());
            return new Link(call.lockName());
        }

        @Override
        public CallObserver nextCallStarted(Call call, CallObserver first) {
            seen.add(call.lockName() + " after " + ((Link) first).lock());
            return new Link(call.lockName());
        }
    }

    @Test
    void furtherCallsOfAnAsynchronousMultiLockFollowTheFirst() throws Exception {
        List<String> one = new CopyOnWriteArrayList<>();
        List<String> other = new CopyOnWriteArrayList<>();
        Counts both = new Counts();
        try (LockClient observed = LockClient.builder()
                .url("memory:chain")
                .observer(new Chain(one))
                .observer(new Chain(other))
                .observer(both)
                .connect()) {
            Lease held = observed.lock("b").acquireAsync().get();
            CompletableFuture<Lease> all = observed.multiLock("a", "b", "c").acquireAsync();
            Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> both.waiting.get() == 1);
            held.close();
            all.get().close();
        }
        String me = Thread.currentThread().getName();
        assertThat(one).containsExactly("b by " + me, "a by " + me, "b after a", "c after a");
        assertThat(other).isEqualTo(one);
        assertThat(both.started).hasValue(4);
        assertThat(both.holdsEnded()).isEqualTo(4);
    }

    /** The executor may complete a call while its caller's thread still learns that it waits. */
    @Test
    void asynchronousCallEndsAfterItIsKnownToWait() throws Exception {
        CompletableFuture<Lease> holder = new CompletableFuture<>();
        CountDownLatch ended = new CountDownLatch(1);
        CompletableFuture<Boolean> endedWhileWaiting = new CompletableFuture<>();
        LockObserver observer = new LockObserver() {
            @Override
            public CallObserver callStarted(Call call) {
                return !holder.isDone()
                        ? CallObserver.NONE
                        : new CallObserver() {
                            @Override
                            public void waiting() {
                                holder.join().closeAsync();
                                try {
                                    endedWhileWaiting.complete(ended.await(200, TimeUnit.MILLISECONDS));
                                } catch (InterruptedException e) {
                                    throw new AssertionError(e);
                                }
                            }

                            @Override
                            public void callEnded(CallEnd end) {
                                ended.countDown();
                            }
                        };
            }
        };
        try (LockClient observed =
                LockClient.builder().backend(engine).observer(observer).connect()) {
            holder.complete(observed.lock("race").acquireAsync().get());
            observed.lock("race").acquireAsync().get(20, TimeUnit.SECONDS).close();
        }
        assertThat(endedWhileWaiting).isCompletedWithValue(false);
        assertThat(ended.getCount()).isZero();
    }

    @Test
    void theClientIsKnown() {
        assertThat(counts.opened).isSameAs(client);
    }

    @Test
    void aHoldFromItsCallToItsRelease() {
        client.lock("order:42").lock();
        assertThat(counts.of(CallOutcome.ACQUIRED)).isOne();
        assertThat(counts.holdsEnded()).isZero();
        client.lock("order:42").unlock();
        assertThat(counts.of(HoldOutcome.RELEASED)).isOne();
        assertThat(counts.started).hasValue(1);
        assertThat(counts.waiting).hasValue(0);
    }

    @Test
    void reentryIsNoNewHold() throws Exception {
        DistributedLock lock = client.lock("order:42");
        lock.lock();
        lock.lock();
        client.lock("order:42", LockOptions.defaults().maxHold(Duration.ofHours(1)))
                .acquire()
                .close();
        lock.unlock();
        assertThat(counts.holdsEnded()).isZero();
        lock.unlock();
        assertThat(counts.of(CallOutcome.ACQUIRED)).isOne();
        assertThat(counts.of(CallOutcome.REENTERED)).isEqualTo(2);
        assertThat(counts.of(HoldOutcome.RELEASED)).isOne();
    }

    @Test
    void readersUnderTheirOwnWriteLockAreHolds() {
        DistributedReadWriteLock lock = client.readWriteLock("order:42");
        lock.writeLock().lock();
        lock.readLock().lock();
        lock.writeLock().unlock();
        lock.readLock().unlock();
        assertThat(counts.of(CallOutcome.ACQUIRED)).isEqualTo(2);
        assertThat(counts.of(HoldOutcome.RELEASED)).isEqualTo(2);
    }

    @Test
    void callsThatGetNothing() throws Exception {
        CompletableFuture<Lease> holder = client.lock("order:42").acquireAsync();
        Lease lease = holder.get(20, TimeUnit.SECONDS);
        assertThat(client.lock("order:42").tryLock()).isFalse();
        assertThat(client.lock("order:42").tryAcquire(Duration.ofMillis(20))).isEmpty();
        assertThat(client.lock("order:42")
                        .tryAcquireAsync(Duration.ofMillis(20))
                        .get(20, TimeUnit.SECONDS))
                .isEmpty();
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> client.lock("order:42").acquire()).isInstanceOf(InterruptedException.class);
        CompletableFuture<Lease> cancelled = client.lock("order:42").acquireAsync();
        cancelled.cancel(true);
        Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> counts.ended() == 6);
        assertThat(counts.of(CallOutcome.BUSY)).isOne();
        assertThat(counts.of(CallOutcome.TIMED_OUT)).isEqualTo(2);
        assertThat(counts.of(CallOutcome.INTERRUPTED)).isOne();
        assertThat(counts.of(CallOutcome.CANCELLED)).isOne();
        assertThat(counts.waiting).hasValue(3);
        lease.closeAsync().get(20, TimeUnit.SECONDS);
        assertThat(counts.of(HoldOutcome.RELEASED)).isOne();
        assertThat(counts.wrongThread).hasValue(0);
    }

    /** The time is over before the second lock is asked for. */
    @Test
    void aMultiLockWhoseTimeRanOutHasTimedOut() throws Exception {
        LockClient rival = LockClient.builder().backend(engine).connect();
        Lease held = rival.lock("b").acquire();
        assertThat(client.multiLock("a", "b").tryAcquire(Duration.ofNanos(1))).isEmpty();
        assertThat(client.multiLock("a", "b")
                        .tryAcquireAsync(Duration.ofNanos(1))
                        .get(20, TimeUnit.SECONDS))
                .isEmpty();
        assertThat(client.multiLock("a", "b").tryAcquire()).isEmpty();
        held.close();
        rival.close();
        assertThat(counts.of(CallOutcome.TIMED_OUT)).isEqualTo(2);
        assertThat(counts.of(CallOutcome.BUSY)).isOne();
        assertThat(counts.of(CallOutcome.ACQUIRED)).isEqualTo(counts.holdsEnded());
    }

    @Test
    void aCallThatFails() {
        DistributedLock lock = client.lock("order:42", LockOptions.defaults().nonReentrant());
        lock.lock();
        assertThatThrownBy(lock::lock).isInstanceOf(SelfDeadlockException.class);
        assertThat(counts.of(CallOutcome.FAILED)).isOne();
        lock.unlock();
    }

    @Test
    void aLossIsTheEndOfAHold() throws Exception {
        Lease lease = client.lock("order:42", LockOptions.defaults().maxHold(Duration.ofMillis(20)))
                .acquire();
        Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> counts.of(HoldOutcome.LOST) == 1);
        assertThatThrownBy(lease::close).isInstanceOf(LockLostException.class);
        client.lock("order:43").lock();
        client.close();
        assertThat(counts.losses).containsExactly(LossReason.MAX_HOLD_REACHED, LossReason.CLIENT_CLOSED);
        assertThat(counts.holdsEnded()).isEqualTo(2);
    }

    /** Throws in each of its methods, with the name of the method as the message. */
    private record Failing(Function<String, Throwable> makes) implements LockObserver {
        private <T> T fail(String method) {
            return Undeclared.fail(makes.apply(method));
        }

        @Override
        public void clientOpening(ClientInfo client) {
            fail("clientOpening");
        }

        @Override
        public void clientOpened(LockClient client) {
            fail("clientOpened");
        }

        @Override
        public void clientClosed(LockClient client) {
            fail("clientClosed");
        }

        @Override
        public CallObserver callStarted(Call call) {
            if (call.lockName().equals("start")) {
                return fail("callStarted");
            }
            return new CallObserver() {
                @Override
                public void waiting() {
                    fail("waiting");
                }

                @Override
                public void callEnded(CallEnd end) {
                    fail("callEnded");
                }

                @Override
                public void holdEnded(HoldEnd end) {
                    fail("holdEnded");
                }
            };
        }

        @Override
        public void handedOff(LockListener.HandedOff event) {
            fail("handedOff");
        }

        @Override
        public void requestEnded(Request request) {
            fail("requestEnded");
        }

        @Override
        public void renewalFailed(RenewalFailure failure) {
            fail("renewalFailed");
        }
    }

    static Stream<Function<String, Throwable>> failures() {
        return Stream.of(IllegalStateException::new, AssertionError::new, IOException::new);
    }

    @ParameterizedTest
    @MethodSource("failures")
    void anExceptionOfAnObserverIsLoggedAndChangesNothing(Function<String, Throwable> makes) throws Exception {
        Queue<String> logged = new ConcurrentLinkedQueue<>();
        Counts beside = new Counts();
        ThreadLogs.onWarning(logged::add);
        try (LockClient observed = LockClient.builder()
                .backend(engine)
                .observer(new Failing(makes))
                .observer(beside)
                .connect()) {
            for (String name : List.of("start", "end")) {
                observed.lock(name).lock();
                assertThat(observed.lock(name).isHeldByCurrentThread()).isTrue();
                observed.lock(name).unlock();
            }
            handOff(observed, beside, logged);
            assertThat(observed.list("")).isEmpty();
        } finally {
            ThreadLogs.onWarning(null);
        }
        assertThat(beside.of(CallOutcome.ACQUIRED)).isEqualTo(4);
        assertThat(beside.of(HoldOutcome.RELEASED)).isEqualTo(4);
        assertThat(beside.handOffs).hasValue(1);
        for (String method : List.of(
                "clientOpening",
                "clientOpened",
                "callStarted",
                "waiting",
                "callEnded",
                "holdEnded",
                "handedOff",
                "clientClosed")) {
            assertThat(logged).anyMatch(line -> line.contains("An observer failed") && line.contains(": " + method));
        }
    }

    @Test
    void anInterruptThatReachesAnObserverIsLeftToTheCaller() {
        try (LockClient observed = LockClient.builder()
                .backend(engine)
                .observer(new Failing(InterruptedException::new))
                .connect()) {
            Thread.interrupted(); // that of clientOpened
            assertThat(observed.lock("start").tryLock()).isTrue();
            assertThat(Thread.interrupted()).isTrue();
        } finally {
            Thread.interrupted();
        }
    }

    private static void handOff(LockClient observed, Counts counts, Queue<String> logged) throws Exception {
        DistributedLock lock = observed.lock("end");
        lock.lock();
        CompletableFuture<Void> next = CompletableFuture.runAsync(() -> {
            ThreadLogs.onWarning(logged::add);
            try {
                lock.lock();
                lock.unlock();
            } finally {
                ThreadLogs.onWarning(null);
            }
        });
        Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> counts.waiting.get() == 1);
        lock.unlock();
        next.get(20, TimeUnit.SECONDS);
    }

    @ParameterizedTest
    @MethodSource("failures")
    void anExceptionOfARequestObserverIsLogged(Function<String, Throwable> makes) {
        RequestObserver requests = new Observers(List.of(new Failing(makes))).requests(new VirtualScheduler());
        List<String> logged = new ArrayList<>();
        ThreadLogs.onWarning(logged::add);
        try {
            requests.ended("claim", 0, null);
            requests.renewalFailed(1, new IllegalStateException("no answer"));
        } finally {
            ThreadLogs.onWarning(null);
        }
        assertThat(logged).hasSize(2);
        assertThat(logged.get(0)).contains("An observer failed", ": requestEnded");
        assertThat(logged.get(1)).contains("An observer failed", ": renewalFailed");
    }

    /** All that can happen to calls and holds, at once; then: acquired = released + lost + unconfirmed. */
    @Test
    void countsAreExactUnderManyThreads() throws Exception {
        LockClient rival = LockClient.builder().backend(engine).connect();
        AtomicLong got = new AtomicLong();
        Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            int seed = i;
            Thread thread = new Thread(() -> work(seed, got), "worker-" + i);
            thread.setUncaughtExceptionHandler((failed, thrown) -> failures.add(thrown));
            threads.add(thread);
            thread.start();
        }
        Random random = new Random(42);
        for (int i = 0; i < 300; i++) {
            rival.forceRelease("lock-" + random.nextInt(3));
            if (rival.lock("lock-" + random.nextInt(3)).tryLock(1, TimeUnit.MILLISECONDS)) {
                unlockAll(rival);
            }
            threads.get(random.nextInt(threads.size())).interrupt();
        }
        for (Thread thread : threads) {
            thread.join(TimeUnit.SECONDS.toMillis(60));
            assertThat(thread.isAlive()).isFalse();
        }
        assertThat(failures).isEmpty();
        rival.close();
        Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> counts.ended() == counts.started.get());
        Awaitility.await()
                .atMost(Duration.ofSeconds(20))
                .until(() -> counts.holdsEnded() == counts.of(CallOutcome.ACQUIRED));
        client.close();
        assertThat(counts.ended()).isEqualTo(counts.started.get());
        assertThat(counts.holdsEnded()).isEqualTo(counts.of(CallOutcome.ACQUIRED));
        assertThat(counts.of(CallOutcome.ACQUIRED)).isGreaterThanOrEqualTo(got.get());
        assertThat(counts.of(HoldOutcome.LOST)).isPositive();
        assertThat(counts.of(CallOutcome.CANCELLED)).isPositive();
        assertThat(counts.handOffs.get()).isPositive();
        assertThat(counts.wrongOrder).hasValue(0);
        assertThat(counts.wrongThread).hasValue(0);
    }

    private static void unlockAll(LockClient rival) {
        for (int i = 0; i < 3; i++) {
            DistributedLock lock = rival.lock("lock-" + i);
            if (lock.isHeldByCurrentThread()) {
                lock.unlock();
            }
        }
    }

    /** Takes and releases in all ways. */
    private void work(int seed, AtomicLong got) {
        Random random = new Random(seed);
        LockOptions brief = LockOptions.defaults().maxHold(Duration.ofMillis(1));
        for (int i = 0; i < 500; i++) {
            String name = "lock-" + random.nextInt(3);
            try {
                switch (random.nextInt(6)) {
                    case 0 -> {
                        DistributedLock lock = client.lock(name);
                        lock.lock();
                        got.incrementAndGet();
                        lock.unlock();
                    }
                    case 1 ->
                        client.lock(name, brief)
                                .tryAcquire(Duration.ofMillis(2))
                                .ifPresent(lease -> {
                                    got.incrementAndGet();
                                    Thread.yield();
                                    lease.close();
                                });
                    case 2 -> {
                        CompletableFuture<Lease> future = client.lock(name).acquireAsync();
                        if (random.nextBoolean()) {
                            future.cancel(true);
                        }
                        future.thenCompose(Lease::closeAsync).get();
                    }
                    case 3 -> client.readWriteLock(name).readLock().acquire().close();
                    case 4 -> {
                        if (client.lock(name).tryLock()) {
                            client.lock(name).unlock();
                        }
                    }
                    default -> client.multiLock("lock-0", "lock-1").acquire().close();
                }
            } catch (InterruptedException | LockLostException e) {
                // As it may be.
            } catch (ExecutionException e) {
                assertThat(e.getCause()).isInstanceOfAny(LockLostException.class, CancellationException.class);
            }
        }
    }
}
