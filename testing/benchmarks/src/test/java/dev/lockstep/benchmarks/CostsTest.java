package dev.lockstep.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.benchmarks.Results.Cell;
import dev.lockstep.benchmarks.Results.Sheet;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Values that an engine cannot count are left out: 0 would be a result, and the best one. */
class CostsTest {
    @Test
    void fileHasNeitherRequestsNorProcessorTime() {
        try (RunningEngine engine = RunningEngine.start(Engine.SQLITE)) {
            assertThat(engine.requests()).isNaN();
            assertThat(engine.cpuMicros()).isNaN();
        }
    }

    @Test
    void folderOfTheFileIsDeleted() throws Exception {
        Path file;
        try (RunningEngine engine = RunningEngine.start(Engine.SQLITE)) {
            file = Path.of(engine.url(false).substring("jdbc:sqlite:".length()));
            Files.writeString(file, "locks");
        }
        assertThat(file.getParent()).doesNotExist();
    }

    @Test
    @Tag("full")
    void h2DoesNotCountItsRequests() {
        try (RunningEngine engine = RunningEngine.start(Engine.H2)) {
            assertThat(engine.requests()).isNaN();
            assertThat(engine.cpuMicros()).isPositive();
        }
    }

    @Test
    @Tag("full")
    void windowHasOnlyWhatWasCounted(@TempDir Path folder) throws Exception {
        Entrant lockstep = Entrant.of(Engine.MEMORY).get(0);
        try (RunningEngine engine = RunningEngine.start(Engine.MEMORY);
                Stage stage = new Stage(engine, new Plan(1, 50, 50, 50, 0), folder, folder, line -> {})) {
            Sheet sheet = stage.measure(Workload.W1, List.of(lockstep));

            assertThat(sheet.cells().get(0).windows())
                    .singleElement()
                    .satisfies(window -> assertThat(window)
                            .containsKeys(Measure.OPS.key, Measure.CLIENT.key)
                            .doesNotContainKeys(Measure.REQUESTS.key, Measure.EACH.key, Measure.SERVER.key));
        }
    }

    @Test
    void anUnmeasuredValueMeetsNoGoalAndHasNoBar() {
        Sheet sheet = sheet(new Cell(Entrant.LOCKSTEP, Entrant.Kind.LOCKSTEP, "", List.of(Map.of("cpu", 1.0))));

        assertThat(Goal.outcomes(new Results("h2", List.of(sheet)))).isEmpty();
        assertThat(Chart.of(sheet)).doesNotContain("NaN");
        assertThat(Tables.of(sheet)).doesNotContain("…  ");
    }

    @Test
    void peerThatWasNotMeasuredIsNotTheBest() {
        Sheet sheet = new Sheet(
                "W1",
                "",
                "",
                new Conditions(Map.of(), Map.of()),
                List.of(
                        new Cell("one", Entrant.Kind.PEER, "", List.of(Map.of("ops", 5.0))),
                        new Cell("other", Entrant.Kind.PEER, "", List.of(Map.of("client", 1.0)))));

        assertThat(sheet.bestPeer()).map(Cell::name).contains("one");
    }

    @Test
    void thoseThatCostNothingAreEqual() {
        assertThat(Measure.RATE.advantage(0, 0)).isEqualTo(1);
        assertThat(Measure.RATE.advantage(1, 2)).isEqualTo(2);
        assertThat(Measure.OPS.advantage(0, 0)).isNaN(); // who did nothing at all cannot be compared
    }

    @Test
    void curveOfZeroesIsDrawnAtTheBottom() {
        assertThat(curve(Map.of(Measure.SERVER_SHARE.key, 0.0)))
                .doesNotContain("NaN")
                .contains("<polyline points=\"90.0,280.0 580.0,280.0\"");
    }

    @Test
    void curveThatWasNotMeasuredHasNoLineAndNoGoal() {
        assertThat(curve(Map.of())).doesNotContain("NaN").contains("<polyline points=\"\"");
        Growth.Line line = line(List.of(
                new Growth.Point(10, Map.of()), new Growth.Point(100, Map.of(Measure.SERVER_SHARE.key, 1.0))));
        assertThat(GrowthChart.goal(Engine.MARIADB, Curve.WAITING, line)).isEmpty();
    }

    private static String curve(Map<String, Double> values) {
        return GrowthChart.of(
                Curve.WAITING, List.of(line(List.of(new Growth.Point(10, values), new Growth.Point(100, values)))));
    }

    private static Growth.Line line(List<Growth.Point> points) {
        return new Growth.Line("", "", "", new Conditions(Map.of(), Map.of()), points);
    }

    private static Sheet sheet(Cell... cells) {
        return new Sheet("W7", "", "", new Conditions(Map.of(), Map.of()), List.of(cells));
    }
}
