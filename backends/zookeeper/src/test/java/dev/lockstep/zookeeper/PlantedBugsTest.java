package dev.lockstep.zookeeper;

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
                        "release a lock without a queue without a look at the owner",
                        "code == Code.OK && isMine(data, stat)) { delete(again);",
                        "code == Code.OK) { delete(again);",
                        "dev.lockstep.zookeeper.PlainReleaseTest: whoHasNotHeardOfItsLossDoesNotFreeTheNextHolder"),
                new PlantedBug(
                        "take the number in the queue for the token",
                        "win(token(), mode())",
                        "win(QueueNode.parse(Names.last(path())).number() + 1, mode())",
                        "dev.lockstep.zookeeper.FaultTest: aLockThatNobodyUsesIsRemovedAndMadeAgain"),
                new PlantedBug(
                        "count a session from the server's answer",
                        "long connectedNanos = hosts.connectedNanos();",
                        "long connectedNanos = scheduler.nanoTime();",
                        "dev.lockstep.zookeeper.FaultTest: aSessionThatIsConfirmedLateIsValidNoLonger"),
                new PlantedBug(
                        "trust the numbers of another queue",
                        "return nextNumber == number + 1 && transactions > 0 && transactions <= nextNumber;",
                        "return nextNumber == number + 1;",
                        "dev.lockstep.zookeeper.AloneTest: itIsNotFooledByTheNumbersOfAnotherQueue"),
                new PlantedBug(
                        "keep the grants of a session that has ended",
                        "lost.grants().forEach(grant -> grant.revoke(LossReason.SESSION_ENDED));",
                        "",
                        "dev.lockstep.zookeeper.FaultTest: aHolderInAnOldSessionIsToldOfItsLossBeforeTheNextSessionBegins"));
    }

    private static List<PlantedBug> slowBugs() {
        return List.of(
                new PlantedBug(
                        "keep the node of a claim that was withdrawn before its create was answered",
                        "remove(); return false;",
                        "return false;",
                        "dev.lockstep.zookeeper.FaultTest: aWithdrawnClaimWhoseCreateWasNotAnsweredIsCleanedUp"),
                new PlantedBug(
                        "take the answer of one server for that of a majority",
                        "long now = scheduler.nanoTime(); if (reported != null",
                        "long now = scheduler.nanoTime(); committed(sent); if (reported != null",
                        "dev.lockstep.zookeeper.IsolatedLeaderTest: aHolderOnAnIsolatedLeaderIsNotValidWhenTheNextHolderStarts"),
                new PlantedBug(
                        "set no watch again after a change of what a waiter waits for",
                        "} else { await(node); }",
                        "}",
                        "dev.lockstep.zookeeper.ContractStandaloneTest: aDowngradeLetsReadersOfOtherClientsIn"),
                new PlantedBug(
                        "trust a session right after a reconnect",
                        "} else { send(); }",
                        "} else { committed(triedNanos); }",
                        "dev.lockstep.zookeeper.IsolatedLeaderTest: aHolderOnAnIsolatedLeaderIsNotValidWhenTheNextHolderStarts"));
    }
}
