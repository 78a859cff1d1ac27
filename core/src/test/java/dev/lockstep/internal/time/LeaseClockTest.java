package dev.lockstep.internal.time;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.LockClient;
import dev.lockstep.LockLostException;
import dev.lockstep.LockMode;
import dev.lockstep.LockOptions;
import dev.lockstep.LossReason;
import dev.lockstep.internal.TurnstileFixture;
import dev.lockstep.internal.client.Client;
import dev.lockstep.internal.turnstile.SimThread;
import dev.lockstep.memory.MemoryEngine;
import dev.lockstep.spi.Scheduler;
import dev.lockstep.spi.VirtualScheduler;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** A machine that is suspended: its monotonic clock stops, and its wall clock does not. */
class LeaseClockTest {
    private static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);

    private long monotonic = Long.MAX_VALUE - 1_000 * MILLI; // overflows soon
    private long wall = 1_700_000_000_000L;

    /** How long each read of the monotonic clock takes, as if the thread were stopped there. */
    private final AtomicInteger stopsFor = new AtomicInteger();

    private final List<Runnable> jumps = new CopyOnWriteArrayList<>();
    private final LeaseClock clock = newClock("Linux");

    private LeaseClock newClock(String system) {
        return new LeaseClock(this::readMonotonic, () -> wall, system, nanos -> jumps.forEach(Runnable::run));
    }

    private long readMonotonic() {
        long read = monotonic;
        int stop = stopsFor.getAndSet(0);
        monotonic += stop * MILLI;
        wall += stop;
        return read;
    }

    private void run(long millis) {
        monotonic += millis * MILLI;
        wall += millis;
    }

    private void suspend(long millis) {
        wall += millis;
    }

    private void setWall(long millis) {
        wall += millis;
    }

    private long elapsedSince(long start) {
        return (clock.nanoTime() - start) / MILLI;
    }

    @Nested
    class Reading {
        @Test
        void countsTheTimeWhileTheMachineIsSuspended() {
            long start = clock.nanoTime();
            run(2_000);
            suspend(3_600_000);
            run(1);
            assertThat(elapsedSince(start)).isEqualTo(3_602_001);
        }

        @Test
        void countsEachSuspension() {
            long start = clock.nanoTime();
            suspend(100);
            assertThat(elapsedSince(start)).isEqualTo(100);
            suspend(50);
            run(7);
            assertThat(elapsedSince(start)).isEqualTo(157);
        }

        @Test
        void ignoresAWallClockThatIsSetBack() {
            long start = clock.nanoTime();
            setWall(-3_600_000);
            run(10);
            assertThat(elapsedSince(start)).isEqualTo(10);
            suspend(40); // though the wall clock is still behind
            assertThat(elapsedSince(start)).isEqualTo(50);
        }

        @Test
        void doesNotTakeAPauseBetweenTheTwoReadsForASuspension() {
            long start = clock.nanoTime();
            stopsFor.set(500);
            clock.nanoTime();
            assertThat(elapsedSince(start)).isEqualTo(500);
        }

        @Test
        void ignoresTheGranularityOfTheWallClock() {
            long start = clock.nanoTime();
            for (int i = 0; i < 100; i++) {
                setWall(i % 2 == 0 ? 2 : -2);
                assertThat(elapsedSince(start)).isZero();
            }
        }

        @Test
        void doesNotTakeTheStepsOfAWallClockForSuspensions() {
            for (int looks : new int[] {1, 3, 7, 11, 16, 17}) {
                LeaseClock windows = newClock("Windows 11");
                long start = windows.nanoTime();
                for (int passed = 1; passed <= 8_000; passed++) {
                    monotonic += MILLI;
                    wall += passed % 16 == 0 ? 16 : 0;
                    if (passed % looks == 0) {
                        assertThat((windows.nanoTime() - start) / MILLI).isEqualTo(passed);
                    }
                }
            }
        }

        @Test
        void countsASuspensionDespiteTheStepsOfAWallClock() {
            LeaseClock windows = newClock("Windows Server 2022");
            long start = windows.nanoTime();
            suspend(3_600_000);
            run(1);
            assertThat((windows.nanoTime() - start) / MILLI).isEqualTo(3_600_001);
        }

        @Test
        void isEarlyForARequestRatherThanLate() {
            long start = clock.nanoTime();
            suspend(1_000);
            assertThat((clock.requestNanos() - start) / MILLI).isZero(); // looked less than a millisecond ago
            run(2);
            assertThat((clock.requestNanos() - start) / MILLI).isEqualTo(1_002);
        }
    }

    /** A client on these clocks. Its timers run by the monotonic clock alone. */
    private final class Machine implements Scheduler {
        final VirtualScheduler timers = new VirtualScheduler();

        @Override
        public long nanoTime() {
            return clock.nanoTime();
        }

        @Override
        public long requestNanos() {
            return clock.requestNanos();
        }

        @Override
        public long monotonicNanos() {
            return monotonic;
        }

        @Override
        public Timer schedule(long delayNanos, Runnable task) {
            return timers.schedule(delayNanos, task);
        }

        @Override
        public Timer afterJumps(Runnable task) {
            Runnable scheduled = () -> schedule(0, task);
            jumps.add(scheduled);
            return () -> jumps.remove(scheduled);
        }

        void runFor(long millis) {
            for (long passed = 0; passed < millis; passed++) {
                run(1);
                timers.advance(Duration.ofMillis(1));
            }
        }
    }

    /** The ttl is 30 seconds. */
    @Nested
    class Holding {
        private final Machine machine = new Machine();
        private final MemoryEngine engine = new MemoryEngine();
        private final LockClient client = new Client(
                engine, TurnstileFixture.settings(List.of()), null, machine, Runnable::run, "client", "id", () -> {});

        @Test
        void theFirstLookAfterASuspensionSeesThatTheHoldIsOver() throws InterruptedException {
            var lease = client.lock("a").acquire();
            machine.runFor(1);
            assertThat(lease.isValid()).isTrue();
            suspend(40_000);
            assertThat(lease.isValid()).isFalse();
            assertThatThrownBy(lease::ensureValid)
                    .isInstanceOfSatisfying(
                            LockLostException.class,
                            lost -> assertThat(lost.reason()).isEqualTo(LossReason.EXPIRED));
        }

        @Test
        void theHolderIsNotifiedSoonEvenIfItDoesNotLook() throws InterruptedException {
            var told = new AtomicBoolean();
            client.lock("a").acquire().onLost(reason -> told.set(true));
            engine.disconnect("client", MemoryEngine.Outage.REQUESTS_LOST);
            suspend(40_000);
            machine.runFor(10_000); // until a timer of the client looks at the clock
            assertThat(told).isTrue();
        }

        @Test
        void theFirstLookOfALockIsNoLater() {
            var lock = client.lock("a");
            lock.lock();
            suspend(40_000);
            assertThat(lock.isHeldByCurrentThread()).isFalse();
        }

        @Test
        void aWallClockSetForwardByLessThanTheRemainingTimeChangesNothing() throws InterruptedException {
            var lease = client.lock("a").acquire();
            machine.runFor(9_000); // just before a renewal
            setWall(20_000);
            for (int second = 0; second < 60; second++) {
                assertThat(lease.isValid()).isTrue();
                machine.runFor(1_000);
            }
        }

        @Test
        void aWallClockSetBackChangesNothing() throws InterruptedException {
            var lease = client.lock("a").acquire();
            setWall(-3_600_000);
            assertThat(lease.isValid()).isTrue();
            machine.runFor(60_000);
            assertThat(lease.isValid()).isTrue();
            engine.disconnect("client", MemoryEngine.Outage.REQUESTS_LOST);
            machine.runFor(30_000);
            assertThat(lease.isValid()).isFalse();
        }

        @Test
        void aLockTakenAfterTheSuspensionIsValid() throws InterruptedException {
            machine.runFor(5);
            suspend(3_600_000);
            machine.runFor(5);
            var lease = client.lock("a").acquire();
            assertThat(lease.isValid()).isTrue();
            machine.runFor(60_000);
            assertThat(lease.isValid()).isTrue();
        }

        @Test
        void aWaitIsNotShortenedByTheWallClock() {
            client.lock("a").acquireAsync().join();
            var waiting = new SimThread(client, "a", LockMode.EXCLUSIVE, LockOptions.defaults(), 10_000 * MILLI);
            setWall(20_000);
            assertThat(waiting.look()).isFalse();
            machine.runFor(9_999);
            assertThat(waiting.look()).isFalse();
            machine.runFor(1);
            assertThat(waiting.look()).isTrue();
            assertThat(waiting.lease()).isNull();
            assertThat(waiting.error()).isNull();
        }
    }
}
