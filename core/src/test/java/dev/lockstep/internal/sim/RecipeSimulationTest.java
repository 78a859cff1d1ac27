package dev.lockstep.internal.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;

/** Elections and semaphores against chance. A failure names its seed, which alone makes the same history again. */
class RecipeSimulationTest {
    private static final long HISTORIES = Long.getLong("lockstep.sim.recipes", 4_000);
    private static final long FIRST = Long.getLong("lockstep.sim.seed", new Random().nextInt(1_000_000_000));

    @Test
    void noHistoryBreaksARule() {
        assertThat(RecipeSimulation.run(FIRST, HISTORIES)).isNull();
    }

    @Test
    void oneSeedIsOneHistory() {
        for (long seed = FIRST; seed < FIRST + 100; seed++) {
            assertThat(RecipeSimulation.hash(seed)).as("seed %d", seed).isEqualTo(RecipeSimulation.hash(seed));
        }
    }
}
