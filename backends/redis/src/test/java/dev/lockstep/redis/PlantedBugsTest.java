package dev.lockstep.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.mutants.PlantedBug;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The tests of this engine are worth something: each of these mistakes makes them fail. */
class PlantedBugsTest {
    @Test
    @Tag("full")
    void oneIsFound() {
        PlantedBug bug = PlantedBug.oneOf(quickBugs());
        assertThat(bug.findings()).as(bug.name()).isNotEmpty();
    }

    @ParameterizedTest
    @MethodSource("bugs")
    @Tag("full")
    void eachIsFound(PlantedBug bug) {
        assertThat(bug.findings()).isNotEmpty();
    }

    @Test
    @Tag("full")
    void withoutOneNothingIsFound() {
        assertThat(PlantedBug.findingsWithout(bugs())).isEmpty();
    }

    static List<PlantedBug> bugs() {
        return Stream.of(quickBugs(), slowBugs()).flatMap(List::stream).toList();
    }

    /** Those whose tests need one server and a few seconds. */
    private static List<PlantedBug> quickBugs() {
        return List.of(
                new PlantedBug(
                        "release without a look at the owner",
                        "redis.call('HGET', KEYS[1], 'owner') == ARGV[1] and redis.call('EXISTS', KEYS[2]) == 0",
                        "redis.call('EXISTS', KEYS[2]) == 0",
                        "dev.lockstep.redis.ContractRedisTest: aLateReleaseDoesNotFreeTheNextHolder"),
                new PlantedBug(
                        "count the deadline from the reply",
                        "granted(answer, Renewer.deadline(sent, backend.ttl()))",
                        "granted(answer, Renewer.deadline(backend.scheduler().nanoTime(), backend.ttl()))",
                        "dev.lockstep.redis.ContractRedisTest: validityCountsFromTheSendingOfTheRequest"));
    }

    private static List<PlantedBug> slowBugs() {
        return List.of(
                new PlantedBug(
                        "begin the tokens anew when the server has forgotten them",
                        "math.max((known[2] or 0) + 1, time[1] * 1000000 + time[2])",
                        "(known[2] or 0) + 1",
                        "dev.lockstep.redis.ForgetfulServerTest: aLockThatTheServerForgotIsLostAndItsTokensStillRise"),
                new PlantedBug(
                        "take a repeated request for another's",
                        "if owner == id then prolong(now + ttl) return { 1, token, is_wanted(id) }",
                        "if false then prolong(now + ttl) return { 1, token, is_wanted(id) }",
                        "dev.lockstep.redis.ContractRedisTest: aTryWhoseAnswerWasLostIsNotBlockedByItself"),
                new PlantedBug(
                        "call a hold renewed that the server does not know",
                        "if not score then return 0 end",
                        "if not score then return 1 end",
                        "dev.lockstep.redis.ContractRedisTest: aHolderWhoseSessionEndsLosesTheLock"),
                new PlantedBug(
                        "let a writer in beside readers",
                        "elseif mode == 'X' and redis.call('ZCARD', READERS) > 0 then",
                        "elseif false then",
                        "dev.lockstep.redis.ContractRedisTest: aWriterOfAnotherClientWaitsForTheLastReader"));
    }
}
