package dev.lockstep.jdbc;

import dev.lockstep.mutants.PlantedBug;
import dev.lockstep.mutants.PlantedBugs;
import java.util.List;

/** Mistakes that the tests of this engine find. */
class PlantedBugsTest extends PlantedBugs {
    @Override
    protected List<PlantedBug> bugs() {
        return List.of(
                new PlantedBug(
                        "release a row without a look at the owner",
                        "session = NULL WHERE name = ? AND owner = ?",
                        "session = NULL WHERE name = ? AND (owner = ? OR owner IS NOT NULL)",
                        "ContractH2Test: aLateReleaseDoesNotFreeTheNextHolder"),
                new PlantedBug(
                        "read a queue without the lock of its row",
                        "WHERE name = ? FOR UPDATE",
                        "WHERE name = ?",
                        "ContractH2Test: twoReadersThatArriveAtOnceAreBothCounted"),
                new PlantedBug(
                        "restart the tokens when a row was removed",
                        "dialect.drawn(now) + \", ?, ?, ?, ?, \"",
                        "dialect.drawn(\"1\") + \", ?, ?, ?, ?, \"",
                        "ContractH2Test: anIdleNameGoesAndItsNextTokenIsHigher"),
                new PlantedBug(
                        "end a session that may have been renewed",
                        "endExpiredSession = endSession + \" AND expires <= \" + now;",
                        "endExpiredSession = endSession;",
                        "ContractH2Test: aRenewalThatCommitsLateIsNotOverlooked"),
                new PlantedBug(
                        "count a session from the database's answer",
                        "new Session(this, id, Renewer.deadline(sent, context.ttl()))",
                        "new Session(this, id, Renewer.deadline(context.scheduler().nanoTime(), context.ttl()))",
                        "ContractH2Test: aSessionThatIsConfirmedLateIsValidNoLonger"),
                new PlantedBug(
                        "draw tokens without the clock",
                        "\"GREATEST(token + 1, \" + now() + \")\"",
                        "\"token + 1\"",
                        "PostgresTest: tokensRiseEvenIfTheStandbyHadNotSeenTheLast"),
                new PlantedBug(
                        "keep a grant that comes after the withdrawal",
                        "if (before == ClaimState.LEAVING) {",
                        "if (false) {",
                        "ContractH2Test: aGrantThatComesAfterTheWithdrawalIsNotKept"),
                new PlantedBug(
                        "let a writer in beside readers",
                        "WHERE name = ? AND readers = 0 AND (owner IS NULL OR owner = ?)",
                        "WHERE name = ? AND (owner IS NULL OR owner = ?)",
                        "ContractH2Test: aWriterOfAnotherClientWaitsForTheLastReader"),
                new PlantedBug(
                        "count the holders of permits and not their permits",
                        "return held.stream().mapToInt(Row::permits).sum();",
                        "return held.size();",
                        "ContractH2Test: severalPermitsAreTakenTogetherOrNotAtAll"),
                new PlantedBug(
                        "give a slot that another permit has",
                        "held.forEach(row -> row.slots().forEach(taken::set));",
                        "",
                        "ContractH2Test: noMorePermitsThanTheLimit"),
                new PlantedBug(
                        "renew a session that has expired",
                        " + ? WHERE id = ? AND expires > \" + now;",
                        " + ? WHERE id = ?\";",
                        "RestoreTest: aSessionThatHasExpiredIsNotRevived"));
    }
}
