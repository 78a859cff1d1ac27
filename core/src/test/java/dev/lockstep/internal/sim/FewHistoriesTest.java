package dev.lockstep.internal.sim;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** A few histories, for runs that repeat tests many times, such as mutation testing. */
class FewHistoriesTest {
    @Test
    void noHistoryBreaksARule() {
        assertThat(Simulation.run(1, 150)).isNull();
    }
}
