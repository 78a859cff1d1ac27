package dev.lockstep.etcd;

import dev.lockstep.mutants.PlantedBug;
import dev.lockstep.mutants.PlantedBugs;
import java.util.List;

/** Mistakes that the tests of this engine find. */
class PlantedBugsTest extends PlantedBugs {
    @Override
    protected List<PlantedBug> bugs() {
        return List.of(
                new PlantedBug(
                        "leave the queue without a look at whose key it is",
                        ".addCompare(Txns.createdAt(key, createRevision)) .addSuccess(Txns.delete(key))",
                        ".addSuccess(Txns.delete(key))",
                        "EtcdRacesTest: aDeleteThatArrivesLateSparesTheNextClaim"),
                new PlantedBug(
                        "enter the queue without a look at the fence",
                        ".addCompare(Txns.writtenAt(session.key(), fence)) .addCompare(Txns.absent(key))",
                        ".addCompare(Txns.absent(key))",
                        "EtcdFaultsTest: aRequestFromBeforeTheFenceIsRefused"),
                new PlantedBug(
                        "count a session from etcd's answer",
                        "Renewer.deadline(sent, context.ttl()), this::ended",
                        "Renewer.deadline(scheduler.nanoTime(), context.ttl()), this::ended",
                        "EtcdRacesTest: aSessionThatIsConfirmedLateIsValidNoLonger"),
                new PlantedBug(
                        "take over because of an event about an earlier claim",
                        "|| event.getKv().getModRevision() <= waitsFor.revision()",
                        "",
                        "EtcdRacesTest: anEventThatIsOlderThanTheLookDoesNotCount"),
                new PlantedBug(
                        "do not look for the own key after taking over",
                        "if (viewed.assumed()) {",
                        "if (viewed.assumed() && viewed.wanted()) {",
                        "EtcdRacesTest: aWaiterThatTakesOverWithoutItsKeyLosesTheLock"),
                new PlantedBug(
                        "give slots to oneself before older permits have theirs",
                        "if (count == BATCH || (known",
                        "if (claim.createRevision() < token || (known",
                        "EtcdSemaphoreTest: tokensRiseForEachSlotWheneverTheyAreAskedFor"),
                new PlantedBug(
                        "keep a grant that comes after the withdrawal",
                        "granted = state.isAsking() ? new EtcdGrant(backend, at, view, request, position.pendingFence()) : null;",
                        "granted = new EtcdGrant(backend, at, view, request, position.pendingFence());",
                        "EtcdRacesTest: aGrantThatComesAfterTheWithdrawalIsNotKept"),
                new PlantedBug(
                        "let nobody know that a claim that has waited holds its permits",
                        "if (verify() && view.heir()) {",
                        "if (verify() && view.wanted()) {",
                        "EtcdSemaphoreTest: aClaimThatHasWaitedLetsTheNextOneIn"),
                new PlantedBug(
                        "let a lock in beside a semaphore",
                        "return List.of(Txns.noneBeginsWith(semaphores));",
                        "return List.of();",
                        "EtcdSemaphoreTest: aClaimOfAnotherKindWritesNothing"),
                new PlantedBug(
                        "set no watch again on the next stream",
                        "opened.create(watch, 0);",
                        "",
                        "EtcdFaultsTest: aWaiterSurvivesTheEndOfItsStream"),
                new PlantedBug(
                        "take the next claim under a key for the one before",
                        "&& found.getKvs(0).getCreateRevision() < createRevision",
                        "",
                        "EtcdRacesTest: aWaiterPassesAPredecessorThatWasCreatedAgain"),
                new PlantedBug(
                        "believe a keepalive of a leader that is none any more",
                        "|| kept.getHeader().getRaftTerm() != found.getHeader().getRaftTerm()",
                        "",
                        "EtcdClusterTest: answersOfAStaleLeaderRenewNothing"));
    }
}
