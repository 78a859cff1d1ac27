package dev.lockstep.zookeeper;

import dev.lockstep.mutants.PlantedBug;
import dev.lockstep.mutants.PlantedBugs;
import java.util.List;

/** Mistakes that the tests of this engine find. */
class PlantedBugsTest extends PlantedBugs {
    @Override
    protected List<PlantedBug> bugs() {
        return List.of(
                new PlantedBug(
                        "release a lock without a queue without a look at the owner",
                        "code == Code.OK && isMine(data, stat)) { node.deleteNode(again);",
                        "code == Code.OK) { node.deleteNode(again);",
                        "PlainReleaseTest: aHolderUnawareOfItsLossDoesNotFreeTheNextHolder"),
                new PlantedBug(
                        "take the number in the queue for the token",
                        "node.win(arrival.token(), kind.mode())",
                        "node.win(QueueNode.parse(Keys.last(node.path())).number() + 1, kind.mode())",
                        "FaultTest: anUnusedLockIsRemovedAndCreatedAgain"),
                new PlantedBug(
                        "count a session from the server's answer",
                        "long connectedNanos = hosts.connectedNanos();",
                        "long connectedNanos = scheduler.nanoTime();",
                        "FaultTest: aSessionThatIsConfirmedLateIsValidNoLonger"),
                new PlantedBug(
                        "trust the numbers of another queue",
                        "return nextNumber == number + 1 && transactions > 0 && transactions <= nextNumber;",
                        "return nextNumber == number + 1;",
                        "AloneTest: itIsNotFooledByTheNumbersOfAnotherQueue"),
                new PlantedBug(
                        "give a slot to an older grant than its last owner",
                        "return owner.token < token && !alive.contains(owner.key);",
                        "return !alive.contains(owner.key);",
                        "SlotTableTest: anOldGrantFindsASlotWhenItAsksLate"),
                new PlantedBug(
                        "grant a lock in a namespace of another format",
                        "if (session.format().isSame()) {",
                        "if (session.format().failure(null) == null || true) {",
                        "FormatTest: aWaiterIsNotGrantedALockOfAnotherFormat"),
                new PlantedBug(
                        "keep the grants of a session that has ended",
                        "lost.grants().forEach(grant -> grant.revoke(LossReason.SESSION_ENDED));",
                        "",
                        "FaultTest: aHolderInAnOldSessionIsNotifiedOfItsLossBeforeTheNextSessionBegins"),
                new PlantedBug(
                        "keep the node of a claim that was withdrawn before its create was answered",
                        "remove(); return false;",
                        "return false;",
                        "FaultTest: aWithdrawnClaimWhoseCreateWasNotAnsweredIsCleanedUp"),
                new PlantedBug(
                        "take the answer of one server for that of a majority",
                        "long now = scheduler.nanoTime(); if (reported != null",
                        "long now = scheduler.nanoTime(); committed(sent); if (reported != null",
                        "IsolatedLeaderTest: aHolderOnAnIsolatedLeaderIsNotValidWhenTheNextHolderStarts"),
                new PlantedBug(
                        "set no watch again after a change of what a waiter waits for",
                        "} else { await(path); }",
                        "}",
                        "DowngradeTest: aReaderIsWokenByADowngradeAndDoesNotWaitForItsNextLook"),
                new PlantedBug(
                        "do not wake the claim behind one that has permits now",
                        "if (awaited) { won.touch(); }",
                        "",
                        "SemaphoreCostTest: aReleaseWakesTheFirstWaiterAndThatOneTheNext"),
                new PlantedBug(
                        "pass a claim of another kind in the queue of a semaphore",
                        "taken > kind.limit().orElse(0) || isMixed(place + 1)",
                        "taken > kind.limit().orElse(0)",
                        "SemaphoreTest: aClaimThatAgreesWithTheFirstOneWaitsUntilAnotherKindIsGone"),
                new PlantedBug(
                        "trust a session right after a reconnect",
                        "} else { send(); }",
                        "} else { committed(triedNanos); }",
                        "IsolatedLeaderTest: aHolderOnAnIsolatedLeaderIsNotValidWhenTheNextHolderStarts"));
    }
}
