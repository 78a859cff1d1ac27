package dev.lockstep.jdbc;

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
                        "release a row without a look at the owner",
                        "session = NULL WHERE name = ? AND owner = ?",
                        "session = NULL WHERE name = ? AND (owner = ? OR owner IS NOT NULL)",
                        "dev.lockstep.jdbc.ContractH2Test: aLateReleaseDoesNotFreeTheNextHolder"),
                new PlantedBug(
                        "read a queue without the lock of its row",
                        "WHERE name = ? FOR UPDATE",
                        "WHERE name = ?",
                        "dev.lockstep.jdbc.ContractH2Test: twoReadersThatArriveAtOnceAreBothCounted"),
                new PlantedBug(
                        "begin the tokens anew when a row was removed",
                        "dialect.drawn(now) + \", ?, ?, ?, ?, \"",
                        "dialect.drawn(\"1\") + \", ?, ?, ?, ?, \"",
                        "dev.lockstep.jdbc.ContractH2Test: anIdleNameGoesAndItsNextTokenIsHigher"),
                new PlantedBug(
                        "end a session that may have been renewed",
                        "endExpiredSession = endSession + \" AND expires <= \" + now;",
                        "endExpiredSession = endSession;",
                        "dev.lockstep.jdbc.ContractH2Test: aRenewalThatCommitsLateIsNotOverlooked"),
                new PlantedBug(
                        "count a session from the database's answer",
                        "new JdbcSession(this, id, Renewer.deadline(sent, context.ttl()))",
                        "new JdbcSession(this, id, Renewer.deadline(context.scheduler().nanoTime(), context.ttl()))",
                        "dev.lockstep.jdbc.ContractH2Test: aSessionThatIsConfirmedLateIsValidNoLonger"));
    }

    private static List<PlantedBug> slowBugs() {
        return List.of(
                new PlantedBug(
                        "draw tokens without the clock",
                        "\"GREATEST(token + 1, \" + now() + \")\"",
                        "\"token + 1\"",
                        "dev.lockstep.jdbc.PostgresTest: tokensRiseEvenIfTheStandbyHadNotSeenTheLast"),
                new PlantedBug(
                        "keep a grant that comes after the withdrawal",
                        "leaves = withdrawn && !left;",
                        "leaves = false;",
                        "dev.lockstep.jdbc.ContractH2Test: aGrantThatComesAfterTheWithdrawalIsNotKept"),
                new PlantedBug(
                        "let a writer in beside readers",
                        "WHERE name = ? AND readers = 0 AND (owner IS NULL OR owner = ?)",
                        "WHERE name = ? AND (owner IS NULL OR owner = ?)",
                        "dev.lockstep.jdbc.ContractH2Test: aWriterOfAnotherClientWaitsForTheLastReader"),
                new PlantedBug(
                        "renew a session that has expired",
                        " + ? WHERE id = ? AND expires > \" + now;",
                        " + ? WHERE id = ?\";",
                        "dev.lockstep.jdbc.RestoreTest: aSessionThatHasExpiredIsNotRevived"));
    }
}
