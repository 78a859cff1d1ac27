package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.DeadlockPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.IntConsumer;

/** Processes, each of which holds a lock and waits for that of the next. */
final class ProcessRing {
    private ProcessRing() {}

    /** Measures the time from the call that closes the ring to its failure; then lets all others continue. */
    static Duration deadlock(Bench bench, int count, IntConsumer awaitEdges) {
        List<SecondProcess> processes = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                processes.add(SecondProcess.start(
                        bench.fixture().url().orElseThrow(),
                        bench.namespace(),
                        Bench.LONG_TTL,
                        Map.of(SecondProcessMain.DEADLOCKS, DeadlockPolicy.FAIL.name())));
                assertThat(processes.get(i).ask("acquire lock-" + i)).isEqualTo("ok");
            }
            int last = count - 1;
            for (int i = 0; i < last; i++) {
                processes.get(i).tell("acquire lock-" + (i + 1));
            }
            awaitEdges.accept(last);
            long start = System.nanoTime();
            assertThat(processes.get(last).ask("acquire lock-0")).isEqualTo("error DeadlockException");
            Duration took = Duration.ofNanos(System.nanoTime() - start);
            for (int i = last; i > 0; i--) {
                assertThat(processes.get(i - 1).hasAnswered()).isFalse();
                assertThat(processes.get(i).ask("release lock-" + i)).isEqualTo("ok");
                assertThat(processes.get(i - 1).answer()).isEqualTo("ok");
                assertThat(processes.get(i - 1).ask("release lock-" + i)).isEqualTo("ok");
            }
            awaitEdges.accept(0);
            return took;
        } finally {
            processes.forEach(SecondProcess::close);
        }
    }
}
