package dev.lockstep.internal.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Threads that wait for each other, against chance. A failure names its seed, which alone makes the same history again. */
class DeadlockSimulationTest {
    private static final long FIRST = Long.getLong("lockstep.sim.seed", new Random().nextInt(1_000_000_000));

    @Test
    void noCallFailsWithoutADeadlockAndNoDeadlockStays() {
        System.out.printf("deadlocks: 300 histories from seed %d%n", FIRST);
        assertThat(DeadlockSimulation.run(FIRST, 300)).isNull();
    }

    @Test
    @Tag("soak")
    void soItIsInAMillionHistories() {
        assertThat(DeadlockSimulation.run(1, 1_000_000)).isNull();
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
