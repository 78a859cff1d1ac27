package dev.lockstep.spi;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class MomentTest {
    private final VirtualScheduler time = new VirtualScheduler();
    private final List<String> told = new ArrayList<>();
    private final Moment<String> moment = new Moment<>(time, told::add);

    @Test
    void thingIsCalledBackForOnceBetweenTenAndTwentyMilliseconds() {
        moment.add("first");
        time.advance(Duration.ofMillis(9));
        moment.add("second");
        time.advance(Duration.ofMillis(10));
        assertThat(told).isEmpty();

        time.advance(Duration.ofMillis(1));
        assertThat(told).containsExactly("first", "second");
        time.advance(Duration.ofSeconds(1));
        assertThat(told).hasSize(2);
    }

    @Test
    void thingThatComesAfterATickWaitsForTheNextButOne() {
        moment.add("first");
        time.advance(Duration.ofMillis(10));
        moment.add("second");
        time.advance(Duration.ofMillis(10));
        assertThat(told).containsExactly("first");

        time.advance(Duration.ofMillis(10));
        assertThat(told).containsExactly("first", "second");
    }

    @Test
    void timerRestsWhileThereIsNothing() {
        moment.add("only");
        time.advance(Duration.ofSeconds(1));
        assertThat(time.pending()).isZero();

        moment.add("late");
        time.advance(Duration.ofMillis(20));
        assertThat(told).containsExactly("only", "late");
    }
}
