package dev.lockstep.internal.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The whole core against chance. {@code lockstep.sim.histories} says how many histories, {@code lockstep.sim.seed} where
 * to begin; without it each run begins elsewhere. A failure names its seed, which alone makes the same history again.
 */
class SimulationTest {
    private static final long HISTORIES = Long.getLong("lockstep.sim.histories", 10_000);
    private static final long FIRST = Long.getLong("lockstep.sim.seed", new Random().nextInt(1_000_000_000));

    @Test
    void noHistoryBreaksARule() throws InterruptedException {
        play(FIRST, HISTORIES);
    }

    @Test
    @Tag("soak")
    void noneOfTenMillionHistoriesBreaksARule() throws InterruptedException {
        play(1, 10_000_000);
    }

    private static void play(long first, long histories) throws InterruptedException {
        System.out.printf("simulation: %,d histories from seed %d%n", histories, first);
        AtomicLong next = new AtomicLong();
        AtomicReference<String> failure = new AtomicReference<>();
        Runnable worker = () -> {
            for (long i = next.getAndIncrement(); i < histories && failure.get() == null; i = next.getAndIncrement()) {
                String violation = History.run(first + i);
                if (violation != null) {
                    failure.compareAndSet(null, violation);
                }
                if (i % 500_000 == 0 && i > 0) {
                    System.out.printf("simulation: %,d of %,d histories%n", i, histories);
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
    void oneSeedIsOneHistory() {
        for (long seed = FIRST; seed < FIRST + 300; seed++) {
            assertThat(History.hash(seed)).as("seed %d", seed).isEqualTo(History.hash(seed));
        }
    }
}
