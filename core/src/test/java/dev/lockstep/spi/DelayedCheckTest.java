package dev.lockstep.spi;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class DelayedCheckTest {
    private final VirtualScheduler time = new VirtualScheduler();
    private final List<String> checked = new ArrayList<>();
    private final DelayedCheck<String> checks = new DelayedCheck<>(time, checked::add);

    @Test
    void itemIsCheckedOnceBetweenTenAndTwentyMilliseconds() {
        checks.add("first");
        time.advance(Duration.ofMillis(9));
        checks.add("second");
        time.advance(Duration.ofMillis(10));
        assertThat(checked).isEmpty();

        time.advance(Duration.ofMillis(1));
        assertThat(checked).containsExactly("first", "second");
        time.advance(Duration.ofSeconds(1));
        assertThat(checked).hasSize(2);
    }

    @Test
    void itemThatIsAddedAfterATickWaitsForTheNextButOne() {
        checks.add("first");
        time.advance(Duration.ofMillis(10));
        checks.add("second");
        time.advance(Duration.ofMillis(10));
        assertThat(checked).containsExactly("first");

        time.advance(Duration.ofMillis(10));
        assertThat(checked).containsExactly("first", "second");
    }

    @Test
    void timerRestsWhileThereIsNothing() {
        checks.add("only");
        time.advance(Duration.ofSeconds(1));
        assertThat(time.pending()).isZero();

        checks.add("late");
        time.advance(Duration.ofMillis(20));
        assertThat(checked).containsExactly("only", "late");
    }
}
