package dev.lockstep.internal.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/**
 * The whole core against chance. {@code lockstep.sim.histories} says how many histories, {@code lockstep.sim.seed} where
 * to begin; a failure names its seed, which alone makes the same history again.
 */
class SimulationTest {
    private static final long HISTORIES = Long.getLong("lockstep.sim.histories", 100_000);
    private static final long FIRST = Long.getLong("lockstep.sim.seed", 1);

    @Test
    void noHistoryBreaksARule() throws InterruptedException {
        AtomicLong next = new AtomicLong();
        AtomicReference<String> failure = new AtomicReference<>();
        Runnable worker = () -> {
            for (long i = next.getAndIncrement(); i < HISTORIES && failure.get() == null; i = next.getAndIncrement()) {
                String violation = History.run(FIRST + i);
                if (violation != null) {
                    failure.compareAndSet(null, violation);
                }
                if (i % 500_000 == 0 && i > 0) {
                    System.out.printf("simulation: %,d of %,d histories%n", i, HISTORIES);
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
        for (long seed = FIRST; seed < FIRST + 1000; seed++) {
            assertThat(History.hash(seed)).as("seed %d", seed).isEqualTo(History.hash(seed));
        }
    }
}
