package dev.lockstep.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** For how long an engine has been silent. */
class SilenceTest {
    private static final long PERIOD = 100;

    private final Silence silence = new Silence(PERIOD);

    @Test
    void countsFromTheLaterOfContactAndBeginning() {
        silence.begin(1_000);
        assertThat(silence.sinceNanos(500)).isEqualTo(1_000);
        assertThat(silence.sinceNanos(1_500)).isEqualTo(1_500);
        assertThat(silence.sinceNanos()).as("a question changes nothing").isEqualTo(1_000);
    }

    @Test
    void aContactEndsTheSilenceBefore() {
        silence.begin(1_000);
        silence.heard(900);
        assertThat(silence.sinceNanos()).isEqualTo(1_000);
        silence.heard(1_200);
        assertThat(silence.sinceNanos()).isEqualTo(1_200);
    }

    @Test
    void aLookThatComesAPeriodLateShowsAPause() {
        silence.nextLookAt(1_000);
        assertThat(silence.awayNanos(1_099)).isZero();
        assertThat(silence.awayNanos(1_100)).isEqualTo(100);
        assertThat(silence.awayNanos(5_000)).isEqualTo(4_000);
    }

    @Test
    void aPauseThatIsSkippedDoesNotCount() {
        silence.begin(1_000);
        silence.skip(4_000);
        assertThat(silence.sinceNanos()).isEqualTo(5_000);
    }
}
