package dev.lockstep.torture;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which threads a worker reports as left over. */
class WorkerMainTest {
    @Test
    void whatBeginsAfterNothingWasLeftIsNotLeft() {
        Deque<List<String>> looks = new ArrayDeque<>(List.of(List.of("busy"), List.of(), List.of("new")));
        assertThat(WorkerMain.whatStays(looks::remove, Duration.ofSeconds(20))).isEmpty();
    }

    @Test
    void whatIsThereAtEachLookIsLeft() {
        assertThat(WorkerMain.whatStays(() -> List.of("stuck"), Duration.ofMillis(20)))
                .containsExactly("stuck");
    }
}
