package dev.lockstep.redis;

import dev.lockstep.mutants.PlantedBug;
import dev.lockstep.mutants.PlantedBugs;
import java.util.List;

/** Mistakes that the tests of this engine find. */
class PlantedBugsTest extends PlantedBugs {
    @Override
    protected List<PlantedBug> quickBugs() {
        return List.of(
                new PlantedBug(
                        "release without a look at the owner",
                        "if holder == ARGV[1] then redis.call('HDEL', KEYS[1], 'owner'",
                        "if true then redis.call('HDEL', KEYS[1], 'owner'",
                        "dev.lockstep.redis.ContractRedisTest: aLateReleaseDoesNotFreeTheNextHolder"),
                new PlantedBug(
                        "count the deadline from the reply",
                        "granted(answer, Renewer.deadline(sent, backend.ttl()))",
                        "granted(answer, Renewer.deadline(backend.scheduler().nanoTime(), backend.ttl()))",
                        "dev.lockstep.redis.ContractRedisTest: validityCountsFromTheSendingOfTheRequest"));
    }

    @Override
    protected List<PlantedBug> slowBugs() {
        return List.of(
                new PlantedBug(
                        "begin the tokens anew when the server has forgotten them",
                        "local token = math.max((known[2] or 0) + 1, micros) redis.call",
                        "local token = (known[2] or 0) + 1 redis.call",
                        "dev.lockstep.redis.ForgetfulServerTest: aLockThatTheServerForgotIsLostAndItsTokensStillRise"),
                new PlantedBug(
                        "take a repeated request for another's",
                        "if owner == id then prolong(now + ttl) return { 1, token, is_wanted(QUEUE, id) }",
                        "if false then prolong(now + ttl) return { 1, token, is_wanted(QUEUE, id) }",
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
                        "dev.lockstep.redis.ContractRedisTest: aWriterOfAnotherClientWaitsForTheLastReader"),
                new PlantedBug(
                        "grant a permit too many to who waits",
                        "elseif limit and permits_in_use() + (tonumber(permits) or 1) > limit then",
                        "elseif limit and permits_in_use() > limit then",
                        "dev.lockstep.redis.SemaphoreScriptsTest: aClaimForManyPermitsIsNotPassed"),
                new PlantedBug(
                        "give a slot to an older permit than it had before",
                        "if not held[last.holder] and last.token < mine then",
                        "if not held[last.holder] then",
                        "dev.lockstep.redis.SemaphoreScriptsTest: anOlderHolderThatAsksLaterHasASlotThatNoYoungerOneHad"));
    }
}
