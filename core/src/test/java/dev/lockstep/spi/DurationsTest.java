package dev.lockstep.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.junit.jupiter.api.Test;

class DurationsTest {
    private static final Duration FOREVER = ChronoUnit.FOREVER.getDuration();
    private static final Duration NANOSECOND = Duration.ofNanos(1);

    @Test
    void aLimitMayBeEndless() {
        assertThat(Durations.requireLimit(FOREVER, "limit")).isEqualTo(Durations.LONGEST_LIMIT);
        assertThat(Durations.requireLimit(NANOSECOND, "limit")).isEqualTo(NANOSECOND);
    }

    @Test
    void countingFromAMomentToALimitDoesNotOverflow() {
        long end = Long.MAX_VALUE - 5 + Durations.LONGEST_LIMIT.toNanos();
        assertThat(end - (Long.MAX_VALUE - 5)).isPositive();
        assertThat(Durations.LONGEST_LIMIT.toNanos()).isLessThan(Long.MAX_VALUE / 2);
    }

    @Test
    void aTimeoutFitsWhatDriversCountIn() {
        assertThat(Durations.LONGEST_TIMEOUT.toMillis()).isLessThan(Integer.MAX_VALUE);
        assertThat(Durations.requireTimeout(Duration.ofMillis(1), "timeout")).isEqualTo(Duration.ofMillis(1));
        for (Duration bad : List.of(FOREVER, NANOSECOND, Durations.LONGEST_TIMEOUT.plusNanos(1))) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> Durations.requireTimeout(bad, "timeout"))
                    .withMessageContaining("timeout")
                    .withMessageContaining(bad.toString());
        }
    }

    @Test
    void aDurationThatIsNotPositiveIsRefused() {
        for (Duration bad : List.of(Duration.ZERO, NANOSECOND.negated(), FOREVER.negated())) {
            assertThatIllegalArgumentException().isThrownBy(() -> Durations.requireLimit(bad, "limit"));
            assertThatIllegalArgumentException().isThrownBy(() -> Durations.requireTimeout(bad, "timeout"));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> Durations.requireAtMost(bad, Durations.LONGEST_TIMEOUT, "ttl"));
        }
    }

    @Test
    void aWaitThatIsNotPositiveIsNone() {
        assertThat(Durations.waitNanos(FOREVER)).isEqualTo(Durations.LONGEST_LIMIT.toNanos());
        assertThat(Durations.waitNanos(NANOSECOND)).isEqualTo(1);
        for (Duration none : List.of(Duration.ZERO, NANOSECOND.negated(), FOREVER.negated())) {
            assertThat(Durations.waitNanos(none)).isZero();
        }
    }
}
