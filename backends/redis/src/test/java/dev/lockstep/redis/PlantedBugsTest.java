package dev.lockstep.redis;

import dev.lockstep.mutants.PlantedBug;
import dev.lockstep.mutants.PlantedBugs;
import java.util.List;

/** Mistakes that the tests of this engine find. */
class PlantedBugsTest extends PlantedBugs {
    @Override
    protected List<PlantedBug> bugs() {
        return List.of(
                new PlantedBug(
                        "release without a look at the owner",
                        "if holder == ARGV[1] then redis.call('HDEL', KEYS[1], 'owner'",
                        "if true then redis.call('HDEL', KEYS[1], 'owner'",
                        "ContractRedisTest: aLateReleaseDoesNotFreeTheNextHolder"),
                new PlantedBug(
                        "count the deadline from the reply",
                        "granted(answer, Renewer.deadline(sent, backend.ttl()))",
                        "granted(answer, Renewer.deadline(backend.scheduler().nanoTime(), backend.ttl()))",
                        "ContractRedisTest: validityCountsFromTheSendingOfTheRequest"),
                new PlantedBug(
                        "restart the tokens when the server has forgotten them",
                        "local token = next_token(known[2]) redis.call('HSET', KEYS[1]",
                        "local token = (known[2] or 0) + 1 redis.call('HSET', KEYS[1]",
                        "ForgetfulServerTest: aLockThatTheServerForgotIsLostAndItsTokensStillRise"),
                new PlantedBug(
                        "forget a token before the clock has passed it",
                        "ARGV[5] + TOKEN_KEPT + ahead(token))",
                        "ARGV[5] + TOKEN_KEPT)",
                        "ScriptsTest: aTokenThatIsAheadOfTheClockIsNotForgottenBeforeTheClockHasPassedIt"),
                new PlantedBug(
                        "take a repeated request for another's",
                        "if owner == id then prolong(now + ttl) return { 1, token, is_wanted(QUEUE, id) }",
                        "if false then prolong(now + ttl) return { 1, token, is_wanted(QUEUE, id) }",
                        "ContractRedisTest: aTryWhoseAnswerWasLostIsNotBlockedByItself"),
                new PlantedBug(
                        "call a hold renewed that the server does not know",
                        "redis.call('ZREM', readers, id) return 0",
                        "redis.call('ZREM', readers, id) return 1",
                        "ContractRedisTest: aHolderWhoseSessionEndsLosesTheLock"),
                new PlantedBug(
                        "let a writer in beside readers",
                        "elseif mode == 'X' and redis.call('ZCARD', READERS) > 0 then",
                        "elseif false then",
                        "ContractRedisTest: aWriterOfAnotherClientWaitsForTheLastReader"),
                new PlantedBug(
                        "grant a waiter a permit too many",
                        "elseif limit and permits_in_use() + (tonumber(permits) or 1) > limit then",
                        "elseif limit and permits_in_use() > limit then",
                        "SemaphoreScriptsTest: aClaimForManyPermitsIsNotPassed"),
                new PlantedBug(
                        "let a late release free permits of others",
                        "if held == 1 and extra > 0 then",
                        "if extra > 0 then",
                        "SemaphoreScriptsTest: aReleaseThatComesTooLateFreesNoPermitsOfOthers"),
                new PlantedBug(
                        "give a slot to an older permit than it had before",
                        "if not held[last.holder] and last.token < mine then",
                        "if not held[last.holder] then",
                        "SemaphoreScriptsTest: anOlderHolderThatAsksLaterHasASlotThatNoYoungerOneHad"));
    }
}
