package dev.lockstep.redis;

import dev.lockstep.mutants.PlantedBug;
import dev.lockstep.mutants.PlantedBugs;
import java.util.List;

/** Mistakes that the tests of Redlock find. */
class RedlockPlantedBugsTest extends PlantedBugs {
    @Override
    protected List<PlantedBug> bugs() {
        return List.of(
                new PlantedBug(
                        "take half of the servers for a majority",
                        "return votes.size() / 2 + 1;",
                        "return (votes.size() + 1) / 2;",
                        "redlock.BallotTest: aMajorityIsMoreThanHalf"),
                new PlantedBug(
                        "draw a token without a look at what the servers remember",
                        "Math.max(vote.answer().seen() + 1, vote.answer().micros())",
                        "vote.answer().micros()",
                        "redlock.BallotTest: isAboveAllThatTheMajorityRemembers"),
                new PlantedBug(
                        "count the vote of a server that may have forgotten locks",
                        "return count(mark -> mark == Mark.CONFIRMED) - young();",
                        "return count(mark -> mark == Mark.CONFIRMED);",
                        "RedlockFaultsTest: whileTooFewServersHaveAVoteTheLockIsUnavailableAndNotBusy"),
                new PlantedBug(
                        "write a token where another was written since",
                        "if owner ~= ARGV[1] or token ~= tonumber(ARGV[2]) then",
                        "if owner ~= ARGV[1] then",
                        "RedlockFaultsTest: aTokenIsNotWrittenWhereAnotherWasWrittenSince"),
                new PlantedBug(
                        "write a token where the claim's time is over",
                        "if owner ~= ARGV[1] or token ~= tonumber(ARGV[2]) then",
                        "if recorded ~= ARGV[1] or token ~= tonumber(ARGV[2]) then",
                        "RedlockFaultsTest: aTokenIsNotWrittenWhereAnotherWasWrittenSince"),
                new PlantedBug(
                        "forget another server's token before the own clock has passed it",
                        "keep(LOCK, ahead(ARGV[3]) + TOKEN_KEPT)",
                        "",
                        "ScriptsTest: aTokenFromAServerWhoseClockIsAheadIsNotForgottenBeforeTheOwnClockHasPassedIt"),
                new PlantedBug(
                        "let a server that was restarted keep its age",
                        "if fields[1] ~= run then",
                        "if not fields[1] then",
                        "RedlockFaultsTest: whileTooFewServersHaveAVoteTheLockIsUnavailableAndNotBusy"),
                new PlantedBug(
                        "count the deadline from the last reply",
                        "Ballot.validUntilNanos(done.sentNanos(), backend.ttl())",
                        "Ballot.validUntilNanos(backend.scheduler().nanoTime(), backend.ttl())",
                        "RedlockFaultsTest: validityIsLessByTheTimeThatTheRoundsTook"));
    }
}
