package dev.lockstep.etcd;

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
                        "leave the queue without a look at whose key it is",
                        ".addCompare(Requests.createdAt(key, createRevision)) .addSuccess(Requests.delete(key))",
                        ".addSuccess(Requests.delete(key))",
                        "dev.lockstep.etcd.EtcdRacesTest: aDeleteThatArrivesLateSparesTheNextClaim"),
                new PlantedBug(
                        "enter the queue without a look at the fence",
                        ".addCompare(Requests.writtenAt(session.key(), fence)) .addCompare(Requests.absent(key))",
                        ".addCompare(Requests.absent(key))",
                        "dev.lockstep.etcd.EtcdFaultsTest: aRequestFromBeforeTheFenceIsRefused"),
                new PlantedBug(
                        "count a session from etcd's answer",
                        "Renewer.deadline(sent, context.ttl()), this::ended",
                        "Renewer.deadline(scheduler.nanoTime(), context.ttl()), this::ended",
                        "dev.lockstep.etcd.EtcdRacesTest: aSessionThatIsConfirmedLateIsValidNoLonger"));
    }

    private static List<PlantedBug> slowBugs() {
        return List.of(
                new PlantedBug(
                        "keep a grant that comes after the withdrawal",
                        "granted = withdrawn ? null : new EtcdGrant(",
                        "granted = new EtcdGrant(",
                        "dev.lockstep.etcd.EtcdRacesTest: aGrantThatComesAfterTheWithdrawalIsNotKept"),
                new PlantedBug(
                        "set no watch again on the next stream",
                        "opened.create(watch, 0);",
                        "",
                        "dev.lockstep.etcd.EtcdFaultsTest: aWaiterSurvivesTheEndOfItsStream"),
                new PlantedBug(
                        "take the next claim under a key for the one before",
                        "&& found.getKvs(0).getCreateRevision() < createRevision",
                        "",
                        "dev.lockstep.etcd.EtcdRacesTest: aWaiterPassesAPredecessorThatWasMadeAnew"),
                new PlantedBug(
                        "believe a keepalive of a leader that is none any more",
                        "|| kept.getHeader().getRaftTerm() != found.getHeader().getRaftTerm()",
                        "",
                        "dev.lockstep.etcd.EtcdClusterTest: whatAStaleLeaderAnswersRenewsNothing"));
    }
}
