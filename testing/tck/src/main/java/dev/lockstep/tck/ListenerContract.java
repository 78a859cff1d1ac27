package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockListener;
import dev.lockstep.LockLostException;
import dev.lockstep.LockMode;
import dev.lockstep.LockOptions;
import dev.lockstep.LossReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Listeners hear what happened to a client's locks, in order, one call at a time. */
abstract class ListenerContract extends ContractGroup {
    private final RecordingListener listener = new RecordingListener();
    private LockClient heard;

    ListenerContract(LockContract contract) {
        super(contract);
    }

    @BeforeEach
    void openClientThatIsListenedTo() {
        heard = open(builder -> builder.clientName("heard").listener(listener));
    }

    @Test
    void aHoldIsReportedFromItsBeginningToItsEnd() {
        heard.lock(NAME).lock();
        Bench.await("the event arrives", () -> listener.acquired().size() == 1);
        Bench.letPass(Duration.ofMillis(100)); // at least: the hold lasts longer than this
        heard.lock(NAME).unlock();
        Bench.await("the event arrives", () -> listener.released().size() == 1);
        assertThat(listener.kinds()).containsExactly("Acquired", "Released");
        LockListener.Acquired acquired = listener.acquired().get(0);
        assertThat(acquired.lockName()).isEqualTo(NAME);
        assertThat(acquired.mode()).isEqualTo(LockMode.EXCLUSIVE);
        assertThat(acquired.waited()).isGreaterThanOrEqualTo(Duration.ZERO);
        LockListener.Released released = listener.released().get(0);
        assertThat(released.lockName()).isEqualTo(NAME);
        assertThat(released.mode()).isEqualTo(LockMode.EXCLUSIVE);
        assertThat(released.held()).isGreaterThanOrEqualTo(Duration.ofMillis(100));
    }

    @Test
    void theWaitIsMeasured() throws Exception {
        rivalLock().lock();
        Actor waiter = actor("waiter");
        Call<Boolean> waiting = waiter.starts(() -> {
            heard.lock(NAME).lock();
            heard.lock(NAME).unlock();
        });
        waiter.awaitParked();
        bench().awaitWaiters(NAME, 1);
        Bench.letPass(Duration.ofMillis(200)); // at least: the wait has begun before and lasts longer
        rivalLock().unlock();
        waiting.get();
        Bench.await("the event arrives", () -> listener.acquired().size() == 1);
        assertThat(listener.acquired().get(0).waited()).isGreaterThanOrEqualTo(Duration.ofMillis(200));
    }

    @Test
    void reentryIsNoNewHold() throws Exception {
        heard.lock(NAME).lock();
        try (Lease lease = heard.lock(NAME).acquire()) {
            assertThat(lease.isValid()).isTrue();
        }
        heard.lock(NAME).unlock();
        Bench.await("the event arrives", () -> listener.released().size() == 1);
        assertThat(listener.kinds()).containsExactly("Acquired", "Released");
    }

    /** Where the engine cannot report a waiter, a thread that wakes up late finds the time for hand-offs over. */
    @Test
    @Requires(Capability.TELLS_WANTED)
    void aHandOffIsReported() throws Exception {
        heard.lock(NAME).lock();
        Actor next = actor("next");
        Call<Boolean> waiting = next.starts(() -> heard.lock(NAME).lock());
        next.awaitParked();
        heard.lock(NAME).unlock();
        waiting.get();
        next.does(() -> heard.lock(NAME).unlock());
        Bench.await("both events arrive", () -> listener.released().size() == 2);
        assertThat(listener.kinds()).containsExactly("Acquired", "Released", "HandedOff", "Acquired", "Released");
        assertThat(listener.only(LockListener.HandedOff.class))
                .singleElement()
                .matches(event -> event.lockName().equals(NAME) && event.mode() == LockMode.EXCLUSIVE);
    }

    @Test
    void aLossIsReportedInsteadOfARelease() throws Exception {
        Lease lease = heard.lock(NAME, LockOptions.defaults().maxHold(Duration.ofMillis(100)))
                .acquire();
        Bench.await("the event arrives", () -> listener.lost().size() == 1);
        assertThatThrownBy(lease::close).isInstanceOf(LockLostException.class);
        bench().awaitFree(NAME);
        heard.lock(NAME).lock();
        heard.lock(NAME).unlock();
        Bench.await("the next event arrives", () -> listener.released().size() == 1);
        assertThat(listener.kinds()).containsExactly("Acquired", "Lost", "Acquired", "Released");
        assertThat(listener.lost())
                .singleElement()
                .matches(event -> event.lockName().equals(NAME)
                        && event.mode() == LockMode.EXCLUSIVE
                        && event.reason() == LossReason.MAX_HOLD_REACHED);
    }

    @Test
    @Requires(Capability.SHARED)
    void readersAreReportedAsReaders() {
        heard.readWriteLock(NAME).readLock().lock();
        heard.readWriteLock(NAME).readLock().unlock();
        Bench.await("the event arrives", () -> listener.released().size() == 1);
        assertThat(listener.acquired()).singleElement().matches(event -> event.mode() == LockMode.SHARED);
        assertThat(listener.released()).singleElement().matches(event -> event.mode() == LockMode.SHARED);
    }

    @Test
    void aCallThatFindsTheLockBusyIsNoHold() throws Exception {
        rivalLock().lock();
        assertThat(heard.lock(NAME).tryLock()).isFalse();
        Bench.inVain(
                Duration.ofSeconds(1),
                wait -> assertThat(heard.lock(NAME).tryAcquire(wait)).isEmpty());
        rivalLock().unlock();
        heard.lock("another").lock();
        heard.lock("another").unlock();
        Bench.await("the other event arrives", () -> listener.released().size() == 1);
        assertThat(listener.acquired())
                .singleElement()
                .matches(event -> event.lockName().equals("another"));
    }

    @Test
    void aListenerIsCalledByOneThreadAtATimeAndInOrder() throws Exception {
        int rounds = 50;
        List<Call<?>> calls = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            String name = "lock-" + i;
            calls.add(actor("worker-" + i).starts(() -> {
                for (int round = 0; round < rounds; round++) {
                    heard.lock(name).lock();
                    heard.lock(name).unlock();
                }
            }));
        }
        for (Call<?> call : calls) {
            call.get();
        }
        Bench.await("all events arrive", () -> listener.released().size() == 4 * rounds);
        assertThat(listener.overlaps()).isZero();
        for (int i = 0; i < 4; i++) {
            String name = "lock-" + i;
            List<String> kinds = listener.events().stream()
                    .filter(event -> event.toString().contains("=" + name + ","))
                    .map(event -> event.getClass().getSimpleName())
                    .toList();
            assertThat(kinds).hasSize(2 * rounds);
            for (int round = 0; round < rounds; round++) {
                assertThat(kinds.subList(2 * round, 2 * round + 2)).containsExactly("Acquired", "Released");
            }
        }
    }

    @Test
    void aListenerThatBlocksDoesNotHoldUpTheLocks() throws Exception {
        CountDownLatch unblocked = new CountDownLatch(1);
        try {
            LockClient held = open(builder -> builder.clientName("held up").listener(new LockListener() {
                @Override
                public void onAcquired(Acquired event) {
                    Call.quietly(unblocked::await);
                }
            }));
            for (int i = 0; i < 10; i++) {
                held.lock(NAME).lock();
                held.lock(NAME).unlock();
            }
            actor("another").does(() -> {
                held.lock(NAME).lock();
                held.lock(NAME).unlock();
            });
        } finally {
            unblocked.countDown();
        }
    }
}
