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

/** The simulation finds mistakes that are planted in the core, one at a time. */
class PlantedBugsTest {
    /** Twice what the rarest of them needs, far more than the others do. */
    private static final long SEEDS = 60_000;

    private static final long RARE_SEEDS = 500_000;

    /** How many of them the quick tier tries; another part of the list each time. */
    private static final int SAMPLE = 4;

    @ParameterizedTest
    @MethodSource("sample")
    void isFound(Mutant mutant) {
        assertThat(mutant.simulate(SEEDS)).as(mutant.name()).isNotNull();
    }

    @ParameterizedTest
    @MethodSource("mutants")
    @Tag("full")
    void eachIsFound(Mutant mutant) {
        assertThat(mutant.simulate(SEEDS)).as(mutant.name()).isNotNull();
    }

    /** Bugs that few histories find. */
    @ParameterizedTest
    @MethodSource("rareMutants")
    @Tag("full")
    void rareOneIsFound(Mutant mutant) {
        assertThat(mutant.simulate(RARE_SEEDS)).as(mutant.name()).isNotNull();
    }

    static Stream<Mutant> rareMutants() {
        return Stream.of(
                new Mutant(
                        "return before nothing is left at the engine",
                        "waiter.leaveAfter(leaving);",
                        "waiter.leaveAfter(List.of());"),
                new Mutant(
                        "call it unknown what the engine was asked while a call waited",
                        "if (before == null) {\n                return unconfirmed",
                        "if (before != PassageState.RELEASING) {\n                return unconfirmed"));
    }

    static Stream<Mutant> sample() {
        List<Mutant> all = mutants().toList();
        int first = new Random().nextInt(all.size());
        return IntStream.range(first, first + SAMPLE).mapToObj(place -> all.get(place % all.size()));
    }

    @Test
    void withoutOneNothingIsFound() {
        assertThat(new Mutant("none", "", "").simulate(1_000)).isNull();
    }

    static Stream<Mutant> mutants() {
        return List.of(
                new Mutant(
                        "skip the deadline check of a grant",
                        "if (!passage.isPast(now)) {\n            return false;",
                        "if (true) {\n            return false;"),
                new Mutant("skip the deadline check of a hold", "if (now - deadlineNanos() < 0) {", "if (true) {"),
                new Mutant(
                        "forget to withdraw",
                        "Futures.answerTo(() -> claim.withdraw(LockBackend.DO_NOT_BLOCK))",
                        "CompletableFuture.<Void>completedFuture(null)"),
                new Mutant("hand off once too often", "used < options.handOff()", "used <= options.handOff()"),
                new Mutant(
                        "hand off for too long",
                        "now - budgetNanos < HAND_OFF_NANOS",
                        "now - budgetNanos < 2 * HAND_OFF_NANOS"),
                new Mutant("draw a token twice", "return ++drawn;", "return drawn == 0 ? ++drawn : drawn;"),
                new Mutant(
                        "let readers keep the token from before a writer",
                        "            tokens.endCohort();\n        }\n        holds",
                        "        }\n        holds"),
                new Mutant(
                        "re-enter after loss",
                        "if (own != null && own.isValid(client.nanoTime())) {",
                        "if (own != null) {"),
                new Mutant("lose a wake-up after a release", "if (rules.state.queue.isAwaited()) {", "if (false) {"),
                new Mutant(
                        "lose a wake-up after a withdrawal",
                        "gate.postAndDecide(now -> rules.claims.end(passage));",
                        "gate.post(() -> rules.claims.end(passage));"),
                new Mutant(
                        "release twice",
                        "effects.addOwn(last);",
                        "effects.addOwn(last); effects.add(new Effect.Release(passage, rest));"),
                new Mutant(
                        "keep a grant that raced a cancel",
                        "CompletableFuture<Boolean> answer = hold.turnstile.release(hold, LockBackend.DO_NOT_BLOCK);",
                        "CompletableFuture<Boolean> answer = null;"),
                new Mutant("come again before the others", "state.yieldNext();", ""),
                new Mutant("forget to watch the deadline of a hold", "actions.watchDeadline(watched);", ""),
                new Mutant(
                        "forget that an idle time ends",
                        "effects.add(new Effect.CheckIdle(passage, sticky, left));",
                        ""),
                new Mutant("let readers in beside a writer", "return passage.writer() == null;", "return true;"),
                new Mutant("hand a fair lock off", "if (!state.options().isFair()) {", "if (true) {"),
                new Mutant(
                        "claim while a withdrawal is under way",
                        "current == PassageState.CLAIMING || current == PassageState.WITHDRAWING",
                        "current == PassageState.CLAIMING"),
                new Mutant(
                        "keep a sticky lock that is wanted",
                        "                || passage.isWanted()\n                || !passage.hasTokensLeft()",
                        "                || !passage.hasTokensLeft()"),
                new Mutant(
                        "tell nobody of a loss",
                        "rules.effects.add(new Effect.RunLossAction(action, reason));\n        }\n    }\n\n    /**",
                        "}\n    }\n\n    /**"),
                new Mutant(
                        "call an engine away that is not",
                        ": client.patienceNanos() - Math.max(",
                        ": client.patienceNanos() / 4 - Math.max("),
                new Mutant(
                        "wait forever for what this client releases",
                        "boolean heldUp = rules.leftovers.holdUpTheQueue();",
                        "boolean heldUp = false;"),
                new Mutant(
                        "take any answer for news of the lock",
                        "if (asked && claim != null && claim.mustWait()) {",
                        "if (asked) {"),
                new Mutant(
                        "take what this client releases for another's",
                        "passage.isLeaving() && isOverdue(passage, now)",
                        "false"),
                new Mutant(
                        "call it unknown who held the lock while a call waited",
                        "found != PassageState.RELEASING && passage.owedSince(now) - waiter.startNanos > 0",
                        "false"),
                new Mutant(
                        "take several locks in any order",
                        "locks.sort(Comparator.comparing(TurnstileLock::name));",
                        ""),
                new Mutant("let running threads overtake forever", "first.bypassed() < MAX_BYPASS;", "true;"),
                new Mutant(
                        "believe in two grants that conflict",
                        "        rules.losses.loseOverruled(passage);\n        boolean lostAtOnce",
                        "        boolean lostAtOnce"),
                new Mutant(
                        "forget what was offered", "offer(first);\n                    return true;", "return true;"),
                new Mutant(
                        "do not wait for the first answer",
                        "answer instanceof Result.Failed && mayBeKnownSoon(waiter, now)",
                        "false"),
                new Mutant(
                        "keep a part of several locks",
                        "return CallerContext.carry(MultiLease.undo(closing, client));",
                        "return CompletableFuture.completedFuture(null);"),
                new Mutant(
                        "keep locks behind one that is not free",
                        "if (one instanceof Result.Held held) {",
                        "if (one instanceof Result.Held held && false) {"),
                new Mutant("forget who waits when the client is closed", "finish(waiter, answers.closed());", ""),
                new Mutant(
                        "let holds outlive their client",
                        "} else if (passage.isHeld()) {\n            for (Hold hold",
                        "} else if (false) {\n            for (Hold hold"),
                new Mutant(
                        "let a hold outlive its maximum time",
                        "return hasMaxHold && maxHoldEndNanos - granted < 0 ? maxHoldEndNanos : granted;",
                        "return granted;"),
                new Mutant(
                        "tell nobody that a maximum time is over",
                        "if (now - hold.deadlineNanos() >= 0) {\n                        lose(hold",
                        "if (false) {\n                        lose(hold"),
                new Mutant("draw more tokens than a grant has", "return drawn < MAX_INDEX;", "return true;"),
                new Mutant(
                        "re-enter what is not reentrant",
                        "&& wish.isReentrant() && wish.maxHold().isEmpty()",
                        "&& wish.maxHold().isEmpty()"),
                new Mutant(
                        "re-enter what is not reentrant, by the slow way",
                        "if (reentrant && same != null) {",
                        "if (same != null) {"),
                new Mutant(
                        "take in fallback what is held at the engine",
                        "if (!held.standsAgainst(request, side.other())) {",
                        "if (true) {"),
                new Mutant("fall back too soon", "if (silent >= afterNanos) {", "if (silent >= afterNanos / 4) {"),
                new Mutant("stay in fallback forever", "        router.leave();\n", "        ;\n"),
                new Mutant(
                        "have a token in fallback",
                        "if (isFallback()) {\n            throw",
                        "if (false) {\n            throw"),
                new Mutant("leave a claim behind at a switch", "dropped.giveUp();", ""),
                new Mutant("wait forever for a claim that was refused", "if (submitted) {", "if (known != null) {"))
                .stream();
    }
}
