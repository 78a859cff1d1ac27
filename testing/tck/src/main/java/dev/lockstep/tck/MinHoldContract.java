package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockOptions;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** A minimum time: a hold that is released earlier is over for its owner, and the lock stays held until then. */
abstract class MinHoldContract extends ContractGroup {
    private static final Duration MIN = Duration.ofMillis(800);
    private static final LockOptions OPTIONS = LockOptions.defaults().minHold(MIN);

    MinHoldContract(LockContract contract) {
        super(contract);
    }

    private DistributedLock kept() {
        return client().lock(NAME, OPTIONS);
    }

    /** The minimum time counts from the grant, which came after the call began. */
    private static Duration since(long startNanos) {
        return Duration.ofNanos(System.nanoTime() - startNanos);
    }

    private static boolean isOver(long startNanos) {
        return since(startNanos).compareTo(MIN) >= 0;
    }

    @Test
    void anotherClientGetsTheLockWhenTheMinimumTimeIsOver() throws Exception {
        rival();
        long start = System.nanoTime();
        kept().acquire().close();
        assertThat(rivalLock().tryLock() && !isOver(start)).isFalse();
        try (Lease next = rivalLock().acquire()) {
            assertThat(since(start)).isGreaterThanOrEqualTo(MIN);
            assertThat(next.isValid()).isTrue();
        }
    }

    @Test
    void noThreadOfTheSameClientGetsItBeforeNotEvenTheSame() throws Exception {
        long start = System.nanoTime();
        kept().lock();
        kept().unlock();
        assertThat(lock().isHeldByCurrentThread()).isFalse();
        assertThat(lock().tryLock() && !isOver(start)).isFalse();
        actor("other").does(() -> {
            try (Lease next = lock().acquire()) {
                assertThat(since(start)).isGreaterThanOrEqualTo(MIN);
                assertThat(next.isValid()).isTrue();
            }
        });
    }

    @Test
    void earlierWaitersGetItNoSooner() throws Exception {
        long start = System.nanoTime();
        Lease lease = kept().acquire();
        Call<Boolean> remote = actor("remote").starts(() -> {
            try (Lease next = rivalLock().acquire()) {
                assertThat(next.isValid()).isTrue();
                assertThat(since(start)).isGreaterThanOrEqualTo(MIN);
            }
        });
        Call<Boolean> local = actor("local").starts(() -> {
            try (Lease next = lock().acquire()) {
                assertThat(next.isValid()).isTrue();
                assertThat(since(start)).isGreaterThanOrEqualTo(MIN);
            }
        });
        Bench.letPass(MIN.dividedBy(8));
        lease.close();
        remote.get();
        local.get();
    }

    @Test
    void aHoldThatLastedLongerIsFreeAtOnce() throws Exception {
        LockClient other = rival();
        try (Lease lease = kept().acquire()) {
            Bench.letPass(MIN);
            assertThat(lease.isValid()).isTrue();
        }
        assertThat(other.lock(NAME).tryLock()).isTrue();
        other.lock(NAME).unlock();
    }

    @Test
    @Requires(Capability.FAIR)
    void aFairLockIsKeptToo() throws Exception {
        rival();
        long start = System.nanoTime();
        client().lock(NAME, OPTIONS.fair()).acquire().close();
        try (Lease next = rival().lock(NAME, LockOptions.defaults().fair()).acquire()) {
            assertThat(since(start)).isGreaterThanOrEqualTo(MIN);
            assertThat(next.isValid()).isTrue();
        }
    }

    @Test
    @Requires(Capability.SHARED)
    void aReaderKeepsWritersOutAndNoReaders() throws Exception {
        rival();
        long start = System.nanoTime();
        client().readWriteLock(NAME, OPTIONS).readLock().acquire().close();
        assertThat(rival().readWriteLock(NAME).readLock().tryLock()).isTrue();
        rival().readWriteLock(NAME).readLock().unlock();
        try (Lease next = rivalLock().acquire()) {
            assertThat(since(start)).isGreaterThanOrEqualTo(MIN);
            assertThat(next.isValid()).isTrue();
        }
    }

    @Test
    @Requires(Capability.KEEPS_WHEN_CLOSED)
    void aClosedClientKeepsWhatItHasReleased() throws Exception {
        LockClient closing = open(builder -> builder.clientName("closing"));
        rival();
        long start = System.nanoTime();
        closing.lock(NAME, OPTIONS).acquire().close();
        closing.close();
        getsItWhenTheMinimumTimeIsOver(start);
    }

    @Test
    @Requires(Capability.KEEPS_WHEN_CLOSED)
    void aClosedClientKeepsWhatItHolds() throws Exception {
        LockClient closing = open(builder -> builder.clientName("closing"));
        rival();
        long start = System.nanoTime();
        closing.lock(NAME, OPTIONS).acquire();
        closing.lock("another").lock();
        closing.close();
        assertThat(rival().lock("another").tryLock()).isTrue();
        rival().lock("another").unlock();
        getsItWhenTheMinimumTimeIsOver(start);
    }

    @Test
    @Requires({Capability.KEEPS_WHEN_CLOSED, Capability.SHARED})
    void aClosedClientKeepsWhatItReads() throws Exception {
        LockClient closing = open(builder -> builder.clientName("closing"));
        rival();
        long start = System.nanoTime();
        closing.readWriteLock(NAME, OPTIONS).readLock().acquire().close();
        closing.close();
        getsItWhenTheMinimumTimeIsOver(start);
    }

    private void getsItWhenTheMinimumTimeIsOver(long start) throws InterruptedException {
        try (Lease next = rivalLock().acquire()) {
            assertThat(since(start)).isGreaterThanOrEqualTo(MIN).isLessThan(Bench.PATIENCE); // the ttl is longer
            assertThat(next.isValid()).isTrue();
        }
    }

    @Test
    void eachTickOfAScheduledJobRunsOnce() throws Exception {
        List<LockClient> instances = List.of(client(), rival(), open(builder -> builder.clientName("third")));
        for (int tick = 0; tick < 5; tick++) {
            Random clocks = random(tick);
            int runs = 0;
            long start = System.nanoTime();
            for (LockClient instance : instances) {
                Bench.letPass(Duration.ofMillis(clocks.nextInt(50)));
                Optional<Lease> mine = instance.lock("nightly-report", OPTIONS).tryAcquire();
                if (mine.isPresent()) {
                    runs++; // a job of no time
                    mine.get().close();
                }
            }
            if (isOver(start)) {
                tick--; // the machine was paused for longer than clocks differ
            } else {
                assertThat(runs).as("tick " + tick).isEqualTo(1);
            }
            bench().awaitFree("nightly-report");
        }
    }

    @Test
    void aMinimumTimeIsBounded() {
        Duration forever = ChronoUnit.FOREVER.getDuration();
        assertThatThrownBy(() -> LockOptions.defaults().minHold(forever))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("minHold");
        LockOptions bounded = LockOptions.defaults().maxHold(Duration.ofSeconds(1));
        assertThatThrownBy(() -> bounded.minHold(Duration.ofSeconds(2)))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining("PT2S");
        assertThat(bounded.minHold(Duration.ofSeconds(1)).minHold()).hasValue(Duration.ofSeconds(1));
    }
}
