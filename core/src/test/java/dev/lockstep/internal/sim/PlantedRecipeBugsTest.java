package dev.lockstep.internal.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Mistakes in elections and semaphores, planted on purpose: the simulation finds each of them. */
class PlantedRecipeBugsTest {
    private static final long SEEDS = 4_000;
    private static final int SAMPLE = 2;

    @ParameterizedTest
    @MethodSource("mutants")
    @Tag("full")
    void eachIsFound(Mutant mutant) {
        assertThat(mutant.simulateRecipes(SEEDS)).isNotNull();
    }

    @ParameterizedTest
    @MethodSource("sample")
    void eachOfAFewIsFound(Mutant mutant) {
        assertThat(mutant.simulateRecipes(SEEDS)).isNotNull();
    }

    static Stream<Mutant> sample() {
        List<Mutant> all = mutants().toList();
        int first = new Random().nextInt(all.size());
        return IntStream.range(first, first + SAMPLE).mapToObj(place -> all.get(place % all.size()));
    }

    @Test
    void withoutOneNothingIsFound() {
        assertThat(new Mutant("none", "", "").simulateRecipes(500)).isNull();
    }

    static Stream<Mutant> mutants() {
        return Stream.of(
                new Mutant(
                        "stand again before the task has returned",
                        "() -> stop(won)",
                        "() -> {\n            stop(won);\n            stand();\n        }"),
                new Mutant(
                        "begin a task though its term has ended",
                        "if (!valid || !of.begin(interrupt)) {",
                        "of.begin(interrupt);\n            if (false) {"),
                new Mutant("do not interrupt the task", "interrupt.run(); // while the task is known to run", ""),
                new Mutant(
                        "do not stand again when a term is over",
                        "taskFailures = 0;\n            stand();",
                        "taskFailures = 0;"),
                new Mutant(
                        "do not stand again when the engine was away",
                        "engineFailures++;\n            rest(",
                        "engineFailures++;\n            log.warn("),
                new Mutant(
                        "do not release a term whose task has returned",
                        "of.release().whenComplete((done, error) -> released(failed, error));",
                        "released(failed, null);"),
                new Mutant(
                        "wait forever for a task that does not return",
                        "host.scheduler().schedule(host.requestTimeout().toNanos(), current::release);",
                        ""),
                new Mutant(
                        "keep standing when the candidate leaves",
                        "standing.cancel(false); // one that has",
                        "// one that has"),
                new Mutant("ask for no limit", "return OptionalInt.of(terms.limit());", "return OptionalInt.empty();"),
                new Mutant("ask for one permit in place of several", "return terms.count();", "return 1;"),
                new Mutant(
                        "let a permit outlive its deadline",
                        "return state == State.HELD ? Math.max(deadlineNanos() - now, 0) : 0;",
                        "return state == State.HELD ? 1 : 0;"),
                new Mutant(
                        "leak a permit that raced a cancel",
                        "call.observation().cancelled();\n            call.hold().drop();",
                        "call.observation().cancelled();"),
                new Mutant(
                        "leave a call behind that has given up",
                        ": Futures.answerTo(() -> known.withdraw(LockBackend.DO_NOT_BLOCK))",
                        ": CompletableFuture.completedFuture(null)"),
                new Mutant(
                        "let nobody know that a permit was lost",
                        "actions.forEach(action -> host.runLossAction(terms.name(), action, reason));",
                        ""),
                new Mutant(
                        "give all permits one slot",
                        "known = await(hold.grant().slots().toCompletableFuture());",
                        "known = List.of(0);"),
                new Mutant(
                        "do not release a permit that is closed",
                        "Futures.answerTo(() -> grant().release(block)).whenComplete((known, error) -> {",
                        "CompletableFuture.completedFuture(true).whenComplete((known, error) -> {"));
    }
}
