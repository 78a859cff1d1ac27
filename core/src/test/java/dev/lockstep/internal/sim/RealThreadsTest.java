package dev.lockstep.internal.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** No thread that waits misses its wake-up; and mistakes by which it would are found, one at a time. */
class RealThreadsTest {
    private static final long ROUNDS = Long.getLong("lockstep.threads.rounds", 1_000);

    @Test
    void noWakeUpIsLost() throws InterruptedException {
        assertThat(RealThreads.run(ROUNDS, TimeUnit.MINUTES.toNanos(10))).isNull();
    }

    @Tag("full")
    @ParameterizedTest
    @MethodSource("mutants")
    void isFound(Mutant mutant) {
        assertThat(mutant.runInThreads(Long.MAX_VALUE, TimeUnit.MINUTES.toNanos(1)))
                .as(mutant.name())
                .isNotNull();
    }

    static Stream<Mutant> mutants() {
        return List.of(
                new Mutant(
                        "park though something was offered meanwhile",
                        "while (waiter.result() == null && waiter.isOffered()) {",
                        "if (waiter.result() == null && waiter.isOffered()) {"),
                new Mutant("offer and wake nobody", "effects.add(new Effect.Wake(first.thread()));", ""),
                new Mutant("answer and wake nobody", "effects.add(new Effect.Wake(waiter.thread()));", ""))
                .stream();
    }
}
