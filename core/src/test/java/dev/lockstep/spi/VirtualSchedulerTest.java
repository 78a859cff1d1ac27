package dev.lockstep.spi;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class VirtualSchedulerTest {
    private final VirtualScheduler time = new VirtualScheduler();
    private final List<String> log = new ArrayList<>();

    @Test
    void timersRunInOrderOfTimeThenOfScheduling() {
        time.schedule(20, () -> log.add("c"));
        time.schedule(10, () -> log.add("a"));
        time.schedule(10, () -> log.add("b"));
        time.schedule(30, () -> log.add("late"));

        time.advance(Duration.ofNanos(20));

        assertThat(log).containsExactly("a", "b", "c");
        assertThat(time.pending()).isOne();
        assertThat(time.untilNext()).isEqualTo(Duration.ofNanos(10));
    }

    @Test
    void aTimerSeesItsOwnTimeAndMaySchedule() {
        long start = time.nanoTime();
        time.schedule(10, () -> {
            log.add("at " + (time.nanoTime() - start));
            time.schedule(5, () -> log.add("at " + (time.nanoTime() - start)));
        });

        time.advance(Duration.ofNanos(100));

        assertThat(log).containsExactly("at 10", "at 15");
        assertThat(time.nanoTime() - start).isEqualTo(100);
    }

    @Test
    void aTaskThatIsDueDoesNotRunInsideTheCall() {
        time.schedule(0, () -> log.add("ran"));
        assertThat(log).isEmpty();
        time.runDue();
        assertThat(log).containsExactly("ran");
    }

    @Test
    void aCancelledTimerNeverRuns() {
        Scheduler.Timer timer = time.schedule(10, () -> log.add("ran"));
        timer.cancel();
        timer.cancel();
        time.advance(Duration.ofNanos(20));
        assertThat(log).isEmpty();
        assertThat(time.pending()).isZero();
    }

    @Test
    void afterAPauseTimersRunLate() {
        long start = time.nanoTime();
        time.schedule(10, () -> log.add("at " + (time.nanoTime() - start)));
        time.pause(Duration.ofNanos(50));
        assertThat(log).containsExactly("at 50");
    }
}
