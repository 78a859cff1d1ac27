package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.DistributedSemaphore;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockLostException;
import dev.lockstep.LockObserver;
import dev.lockstep.LockObserver.CallOutcome;
import dev.lockstep.LockObserver.HoldOutcome;
import dev.lockstep.LockOptions;
import dev.lockstep.LossReason;
import dev.lockstep.Permit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Observers see each call and each hold once, in the thread that makes the call. */
abstract class ObserverContract extends ContractGroup {
    private final Recorder seen = new Recorder();
    private LockClient observed;

    ObserverContract(LockContract contract) {
        super(contract);
    }

    /** Counts outcomes. */
    private static final class Recorder implements LockObserver {
        final AtomicInteger started = new AtomicInteger();
        final AtomicInteger waiting = new AtomicInteger();
        final AtomicInteger inOtherThread = new AtomicInteger();
        final Map<Enum<?>, AtomicInteger> counts = new ConcurrentHashMap<>();
        final List<LossReason> losses = new CopyOnWriteArrayList<>();
        final Map<String, AtomicInteger> requests = new ConcurrentHashMap<>();

        int count(Enum<?> outcome) {
            AtomicInteger count = counts.get(outcome);
            return count == null ? 0 : count.get();
        }

        int ended() {
            return sum(CallOutcome.values());
        }

        int holdsEnded() {
            return sum(HoldOutcome.values());
        }

        private int sum(Enum<?>[] outcomes) {
            int sum = 0;
            for (Enum<?> outcome : outcomes) {
                sum += count(outcome);
            }
            return sum;
        }

        private void add(Enum<?> outcome) {
            counts.computeIfAbsent(outcome, unknown -> new AtomicInteger()).incrementAndGet();
        }

        @Override
        public CallObserver callStarted(Call call) {
            started.incrementAndGet();
            Thread caller = Thread.currentThread();
            return new CallObserver() {
                @Override
                public void waiting() {
                    waiting.incrementAndGet();
                }

                @Override
                public void callEnded(CallEnd end) {
                    add(end.outcome());
                    inCallersThread(end.outcome() != CallOutcome.CANCELLED && !call.isAsync());
                }

                @Override
                public void holdEnded(HoldEnd end) {
                    end.lossReason().ifPresent(losses::add); // before the outcome, for which tests wait
                    add(end.outcome());
                    inCallersThread(end.outcome() != HoldOutcome.LOST && !call.isAsync());
                }

                private void inCallersThread(boolean required) {
                    if (required && Thread.currentThread() != caller) {
                        inOtherThread.incrementAndGet();
                    }
                }
            };
        }

        @Override
        public void requestEnded(Request request) {
            requests.computeIfAbsent(request.kind(), unknown -> new AtomicInteger())
                    .incrementAndGet();
        }
    }

    @BeforeEach
    void openClientThatIsObserved() {
        observed = open(builder -> builder.clientName("observed").observer(seen));
    }

    @Test
    void aHoldIsSeenFromItsCallToItsEnd() {
        observed.lock(NAME).lock();
        assertThat(seen.count(CallOutcome.ACQUIRED)).isOne();
        assertThat(seen.holdsEnded()).isZero();
        observed.lock(NAME).unlock();
        assertThat(seen.count(HoldOutcome.RELEASED)).isOne();
        assertThat(seen.started).hasValue(1);
        assertThat(seen.inOtherThread).hasValue(0);
    }

    @Test
    void callsThatGetNothingAreSeen() throws Exception {
        rivalLock().lock();
        assertThat(observed.lock(NAME).tryLock()).isFalse();
        Bench.inVain(
                Duration.ofSeconds(1),
                wait -> assertThat(observed.lock(NAME).tryAcquire(wait)).isEmpty());
        Actor interrupted = actor("interrupted");
        Call<Boolean> waiting = interrupted.starts(
                () -> assertThatThrownBy(() -> observed.lock(NAME).acquire()).isInstanceOf(InterruptedException.class));
        interrupted.awaitParked();
        Bench.await("the waits are seen", () -> seen.waiting.get() == 2);
        interrupted.interrupt();
        waiting.get();
        rivalLock().unlock();
        assertThat(seen.count(CallOutcome.BUSY)).isOne();
        assertThat(seen.count(CallOutcome.TIMED_OUT)).isOne();
        assertThat(seen.count(CallOutcome.INTERRUPTED)).isOne();
        assertThat(seen.ended()).isEqualTo(seen.started.get()).isEqualTo(3);
        assertThat(seen.waiting).hasValue(2);
        assertThat(seen.holdsEnded()).isZero();
        assertThat(seen.inOtherThread).hasValue(0);
    }

    @Test
    void aLossIsTheEndOfAHold() throws Exception {
        Lease lease = observed.lock(NAME, LockOptions.defaults().maxHold(Duration.ofMillis(100)))
                .acquire();
        Bench.await("it is seen", () -> seen.count(HoldOutcome.LOST) == 1);
        assertThatThrownBy(lease::close).isInstanceOf(LockLostException.class);
        assertThat(seen.losses).containsExactly(LossReason.MAX_HOLD_REACHED);
        assertThat(seen.holdsEnded()).isOne();
    }

    @Test
    void asynchronousCallsAndReleasesAreSeen() throws Exception {
        Lease lease = observed.lock(NAME).acquireAsync().get(30, TimeUnit.SECONDS);
        assertThat(seen.count(CallOutcome.ACQUIRED)).isOne();
        var cancelled = observed.lock(NAME).acquireAsync();
        cancelled.cancel(true);
        Bench.await("it is seen", () -> seen.count(CallOutcome.CANCELLED) == 1);
        lease.closeAsync().get(30, TimeUnit.SECONDS);
        assertThat(seen.count(HoldOutcome.RELEASED)).isOne();
        assertThat(seen.ended()).isEqualTo(2);
    }

    /** On a network engine the answer comes later; that alone is no wait. */
    @Test
    void anAsynchronousCallWaitsIfTheLockIsNotFree() throws Exception {
        Lease lease = observed.lock(NAME).acquireAsync().get(30, TimeUnit.SECONDS);
        lease.closeAsync().get(30, TimeUnit.SECONDS);
        rivalLock().lock();
        assertThat(observed.lock(NAME).tryAcquireAsync(Duration.ZERO).get(30, TimeUnit.SECONDS))
                .isEmpty();
        assertThat(seen.waiting).hasValue(0);
        var next = observed.lock(NAME).acquireAsync();
        Bench.await("the wait is seen", () -> seen.waiting.get() == 1);
        rivalLock().unlock();
        next.get(30, TimeUnit.SECONDS).close();
        assertThat(seen.waiting).hasValue(1);
    }

    @Test
    @Requires(Capability.LIMITS)
    void permitsAreSeenAsLocksAre() throws Exception {
        DistributedSemaphore semaphore = observed.semaphore(NAME, 1);
        semaphore.acquireAsync().get(30, TimeUnit.SECONDS).closeAsync().get(30, TimeUnit.SECONDS);
        Permit held = semaphore.acquire();
        assertThat(semaphore.tryAcquire()).isEmpty();
        assertThat(seen.waiting).hasValue(0);
        var next = semaphore.acquireAsync();
        Bench.await("the wait is seen", () -> seen.waiting.get() == 1);
        held.close();
        assertThat(seen.count(HoldOutcome.RELEASED)).isEqualTo(2);
        Permit open = next.get(30, TimeUnit.SECONDS);
        assertThat(seen.count(CallOutcome.ACQUIRED)).isEqualTo(3);
        assertThat(seen.count(CallOutcome.BUSY)).isOne();
        assertThat(seen.waiting).hasValue(1);
        observed.close();
        assertThat(open.isValid()).isFalse();
        assertThat(seen.losses).containsExactly(LossReason.CLIENT_CLOSED);
        assertThat(seen.holdsEnded()).isEqualTo(seen.count(CallOutcome.ACQUIRED));
        assertThat(seen.inOtherThread).hasValue(0);
    }

    /** Threads of two clients, of which one is observed, and an operator who releases locks by force. */
    @Test
    void countsAreExact() throws Exception {
        LockClient rival = rival();
        List<Call<?>> calls = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            LockClient client = i == 3 ? rival : observed;
            int number = i;
            calls.add(actor("worker-" + i).starts(() -> {
                for (int round = 0; round < 25; round++) {
                    use(client, "order:" + round % 2, round + number);
                }
            }));
        }
        for (Call<?> call : calls) {
            call.get();
        }
        observed.lock("still held").lock();
        int open = 1;
        assertThat(seen.ended()).isEqualTo(seen.started.get());
        Bench.await("all ends are seen", () -> seen.holdsEnded() + open == seen.count(CallOutcome.ACQUIRED));
        observed.close();
        assertThat(seen.holdsEnded()).isEqualTo(seen.count(CallOutcome.ACQUIRED));
        assertThat(seen.losses).contains(LossReason.CLIENT_CLOSED);
        assertThat(seen.inOtherThread).hasValue(0);
    }

    private static void use(LockClient client, String name, int kind) throws Exception {
        try {
            switch (kind % 3) {
                case 0 -> client.lock(name).acquire().close();
                case 1 -> client.lock(name).tryAcquire().ifPresent(Lease::close);
                default -> {
                    Lease lease = client.lock(name).acquire();
                    if (kind % 5 == 0) {
                        client.forceRelease(name);
                    }
                    lease.close();
                }
            }
        } catch (LockLostException e) {
            assertThat(e.reason()).isEqualTo(LossReason.REVOKED);
        }
    }

    @Test
    @Requires(Capability.REPORTS_REQUESTS)
    void requestsAreSeen() {
        seen.requests.clear();
        observed.lock(NAME).lock();
        observed.lock(NAME).unlock();
        Bench.await(
                "its requests are seen",
                () -> seen.requests.values().stream()
                                .mapToInt(AtomicInteger::get)
                                .sum()
                        >= 2);
        assertThat(seen.requests.keySet()).allMatch(kind -> kind.matches("[A-Za-z-]{1,20}"));
    }
}
