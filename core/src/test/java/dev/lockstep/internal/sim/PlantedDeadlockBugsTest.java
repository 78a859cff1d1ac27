package dev.lockstep.internal.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Mistakes in what looks at waits and deadlocks, planted on purpose: the simulation finds each of them. */
class PlantedDeadlockBugsTest {
    private static final long SEEDS = 2_000;
    private static final String BOUNDED = "fail a call with a deadline of its own";

    @ParameterizedTest
    @MethodSource("mutants")
    @Tag("full")
    void eachIsFound(Mutant mutant) {
        assertThat(mutant.simulateDeadlocks(SEEDS)).isNotNull();
    }

    @ParameterizedTest
    @MethodSource("sample")
    void oneOfThemIsFound(Mutant mutant) {
        assertThat(mutant.simulateDeadlocks(SEEDS)).isNotNull();
    }

    /** One that some ten histories show. The other takes more than a thousand. */
    static Stream<Mutant> sample() {
        List<Mutant> all =
                mutants().filter(mutant -> !mutant.name().equals(BOUNDED)).toList();
        return Stream.of(all.get(new Random().nextInt(all.size())));
    }

    @Test
    void withoutOneNothingIsFound() {
        assertThat(new Mutant("none", "", "").simulateDeadlocks(50)).isNull();
    }

    static Stream<Mutant> mutants() {
        return Stream.of(
                new Mutant("record no wait", "wait.begin();\n        deadlocks.began(wait);", "deadlocks.began(wait);"),
                new Mutant("keep the record of a wait that is over", "deadlocks.ended(wait);\n        wait.end();", ""),
                new Mutant(
                        "fail another call than the victim",
                        "own.waitOf(cycle.victim())",
                        "own.waitOf(cycle.edges().get(0))"),
                new Mutant(BOUNDED, "policy == DeadlockPolicy.FAIL && !bounded", "policy == DeadlockPolicy.FAIL"),
                new Mutant(
                        "look only once",
                        "next(gapNanos * Math.max(pause, 1));",
                        "if (timer != null) { timer.cancel(); }"));
    }
}
