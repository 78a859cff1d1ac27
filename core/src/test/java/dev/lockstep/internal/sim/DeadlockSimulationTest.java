package dev.lockstep.internal.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Threads that wait for each other, against chance. {@code lockstep.sim.deadlocks} says how many histories the soak plays, {@code
 * lockstep.sim.seed} where the others begin. A failure names its seed, which alone makes the same history again.
 */
class DeadlockSimulationTest {
    private static final long HISTORIES = Long.getLong("lockstep.sim.deadlocks", 10_000_000);
    private static final long SHARD = 1_000;
    private static final long FIRST = Long.getLong("lockstep.sim.seed", new Random().nextInt(1_000_000_000));

    @Test
    void noCallFailsWithoutADeadlockAndNoDeadlockStays() {
        System.out.printf("deadlocks: 300 histories from seed %d%n", FIRST);
        assertThat(DeadlockSimulation.run(FIRST, 300)).isNull();
    }

    @Test
    @Tag("soak")
    void theSameHoldsInTenMillionHistories() throws InterruptedException {
        System.out.printf("deadlocks: %,d histories from seed 1%n", HISTORIES);
        AtomicLong next = new AtomicLong();
        AtomicReference<String> failure = new AtomicReference<>();
        Runnable worker = () -> {
            for (long i = next.getAndAdd(SHARD); i < HISTORIES && failure.get() == null; i = next.getAndAdd(SHARD)) {
                failure.compareAndSet(null, DeadlockSimulation.run(1 + i, Math.min(SHARD, HISTORIES - i)));
                if (i % 500_000 == 0 && i > 0) {
                    System.out.printf("deadlocks: %,d of %,d histories%n", i, HISTORIES);
                }
            }
        };
        Thread[] threads = new Thread[Runtime.getRuntime().availableProcessors()];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(worker, "sim-" + i);
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(failure.get()).isNull();
    }

    @Test
    void thereAreDeadlocks() {
        assertThat(LongStream.range(1, 31).map(DeadlockSimulation::victims).sum())
                .isGreaterThan(5);
    }

    @Test
    void oneSeedIsOneHistory() {
        for (long seed = FIRST; seed < FIRST + 50; seed++) {
            assertThat(DeadlockSimulation.hash(seed)).as("seed %d", seed).isEqualTo(DeadlockSimulation.hash(seed));
        }
    }
}
