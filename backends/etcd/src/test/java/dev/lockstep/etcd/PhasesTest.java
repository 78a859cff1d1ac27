package dev.lockstep.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The leases of a dead client end as far apart as its last renewals were. */
class PhasesTest {
    private static final long PERIOD = 10_000_000_000L;
    private static final int SESSIONS = 30;

    @Test
    void aSessionThatIsAloneIsRenewedFromItsOpeningOn() {
        Phases phases = new Phases(PERIOD);
        assertThat(phases.delay(true, 123)).isZero();
        assertThat(phases.delay(false, 456)).isPositive();
        assertThat(phases.delay(true, 789)).isZero();
    }

    /** etcd looks for leases that have ended twice in a second, and deletes the keys of all that it finds in a row. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
    void fewSessionsAreRenewedInTheSameHalfSecondWheneverTheyAreOpened(long seed) {
        Random random = new Random(seed);
        Phases phases = new Phases(PERIOD);
        long[] renewed = new long[SESSIONS];
        long now = random.nextLong(PERIOD);
        for (int i = 0; i < SESSIONS; i++) {
            long delay = phases.delay(i == 0, now);
            assertThat(delay).isBetween(0L, PERIOD - 1);
            renewed[i] = (now + delay) % PERIOD;
            now += random.nextLong(PERIOD / 5);
        }
        for (long begin : renewed) {
            long together = Arrays.stream(renewed)
                    .filter(at -> Math.floorMod(at - begin, PERIOD) < PERIOD / 20)
                    .count();
            assertThat(together).isLessThanOrEqualTo(3);
        }
    }
}
