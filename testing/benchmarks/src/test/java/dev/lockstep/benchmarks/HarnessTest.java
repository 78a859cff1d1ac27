package dev.lockstep.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.benchmarks.Results.Cell;
import dev.lockstep.benchmarks.Results.Sheet;
import dev.lockstep.servers.ServerException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The way from client processes to the page, in a few seconds. Figures of so short a run mean nothing. */
class HarnessTest {
    @Test
    @Tag("full")
    void contendersAreMeasuredAndReported(@TempDir Path folder) throws Exception {
        List<Sheet> sheets = new ArrayList<>();
        List<String> progress = new ArrayList<>();
        Plan plan = new Plan(2, 50, 50, 50, 0);
        try (RunningEngine engine = RunningEngine.start(Engine.MEMORY);
                Stage stage = new Stage(engine, plan, folder, folder, progress::add)) {
            for (Workload workload : List.of(
                    Workload.W1, Workload.W3, Workload.W5, Workload.W6, Workload.W8, Workload.P2, Workload.E1)) {
                sheets.add(stage.measure(
                        workload,
                        Entrant.of(Engine.MEMORY).stream()
                                .filter(entrant -> entrant.workloads().contains(workload))
                                .filter(entrant -> !entrant.name().equals(Entrant.FAIR))
                                .toList()));
            }
        }
        Results results = new Results("memory", sheets);

        Page.refresh(folder, List.of(results));

        assertThat(sheets).flatMap(Sheet::cells).allSatisfy(cell -> {
            assertThat(cell.windows()).as(progress.toString()).hasSize(2);
            assertThat(cell.lost()).isZero();
        });
        String page = Files.readString(folder.resolve("benchmarks.md"));
        assertThat(page)
                .contains(
                        "| ReentrantLock ", "| Lockstep, sticky ", "benchmarks/memory-w8.svg", "benchmarks/ratios.svg");
        assertThat(Files.readString(folder.resolve("benchmarks/memory-w1.svg"))).contains("<svg", ">Lockstep</text>");
        assertThat(Results.read(folder.resolve("benchmarks/memory.json"))).contains(results);
    }

    @Test
    void contenderThatFailsIsSaidToHave(@TempDir Path folder) throws Exception {
        Entrant broken = new Entrant("broken", Entrant.Kind.PEER, "no.such.Type", "", "", Set.of(Workload.W1));
        try (RunningEngine engine = RunningEngine.start(Engine.MEMORY);
                Stage stage = new Stage(engine, new Plan(1, 50, 50, 50, 0), folder, folder, line -> {})) {
            Sheet sheet = stage.measure(Workload.W1, List.of(broken));

            assertThat(Tables.of(sheet)).contains("| broken ", "failed");
        }
    }

    @Test
    @Tag("full")
    void resultsBeforeAFailureAreKept(@TempDir Path folder) throws Exception {
        Path json = folder.resolve("results.json");
        Options options = new Options(
                List.of(Engine.SQLITE),
                List.of(Workload.W1, Workload.W2),
                List.of(),
                new Plan(1, 50, 50, 50, 0),
                true,
                0,
                0,
                folder,
                json);
        IntFunction<String> failing = port -> {
            if (Files.exists(json)) { // after W1
                throw new ServerException("The server has gone");
            }
            return "memory:results";
        };

        assertThat(new Main(options, engine -> new RunningEngine(failing, () -> 0, () -> {})).run())
                .isFalse();

        List<Results> kept = Results.all(json);
        assertThat(kept).singleElement().satisfies(results -> {
            assertThat(results.engine()).isEqualTo("sqlite");
            assertThat(results.sheets()).extracting(Sheet::workload).containsExactly("W1");
            assertThat(results.sheets().get(0).cell(Entrant.LOCKSTEP))
                    .hasValueSatisfying(cell -> assertThat(cell.windows()).hasSize(1));
        });
    }

    @Test
    void ratioIsTakenWithinARound() {
        Sheet sheet = sheet(Workload.W1, cell(Entrant.LOCKSTEP, 100, 20, 90), cell("peer", 50, 10, 30));

        assertThat(Tables.of(sheet)).contains("2.00× (2.00 … 3.00)", "20.0 … 100");
    }

    @Test
    void lessIsBetterForTimes() {
        Sheet sheet = sheet(Workload.W5, cell(Entrant.LOCKSTEP, 1, 1, 1), cell("peer", 4, 5, 6));

        assertThat(Tables.of(sheet)).contains("5.00× (4.00 … 6.00)");
    }

    @Test
    void missedGoalIsSaid() {
        Sheet sheet = sheet(Workload.W3, cell(Entrant.LOCKSTEP, 100, 100, 100), cell("peer", 10, 10, 10));
        Results results = new Results("redis", List.of(sheet));

        assertThat(Tables.goals(Goal.outcomes(results)))
                .containsPattern("times the best peer \\| at least 20.0 \\| +10.0 \\| \\*\\*missed")
                .containsPattern("times peer \\| at least 1.00 \\| +10.0 \\| +met");
    }

    @Test
    void workloadThatWasNotMeasuredHasNoRow() {
        Results results = new Results("redis", List.of(sheet(Workload.W2, cell(Entrant.LOCKSTEP, 10))));

        assertThat(Tables.engines(List.of(results))).contains("| W2 ops/s ").doesNotContain("W1", "P1");
    }

    @Test
    void lostUpdateIsSaid() {
        Sheet sheet =
                sheet(Workload.W3, new Cell("peer", Entrant.Kind.PEER, "", List.of(Map.of("ops", 1.0, "lost", 3.0))));

        assertThat(Tables.of(sheet)).contains("NOT EXCLUSIVE: 3.00 lost updates");
    }

    @Test
    void otherWorkloadsOfAnEarlierRunAreKept() {
        Results older = new Results("redis", List.of(sheet(Workload.W1), sheet(Workload.W2, cell("old", 1))));
        Results newer = new Results("redis", List.of(sheet(Workload.W1, cell("new", 1))));

        assertThat(newer.over(older).sheets())
                .containsExactly(sheet(Workload.W1, cell("new", 1)), sheet(Workload.W2, cell("old", 1)));
    }

    @Test
    void sheetOfAnEarlierRunKeepsItsConditions() {
        Conditions before = new Conditions(Map.of("version", "7"), Map.of("JDK", "17", "load before", "0.10"));
        Conditions now = new Conditions(Map.of("version", "8"), Map.of("JDK", "21", "load before", "9.00"));
        Results older = new Results("redis", List.of(new Sheet("W2", "", "", before, List.of())));
        Results newer = new Results("redis", List.of(new Sheet("W1", "", "", now, List.of())));

        Results merged = newer.over(older);

        assertThat(merged.sheets()).extracting(Sheet::conditions).containsExactly(now, before);
        assertThat(Page.conditions(merged)).isEqualTo("JDK 21; or JDK 17. Server: version 8; or version 7");
    }

    @Test
    void figuresHaveTwoOrThreeSignificantDigits() {
        assertThat(List.of(3_774_654.0, 999.7, 999.4, 99.96, 12.345, 1.0, 0.0123, 0.00038123, 0.00000046, 0.0))
                .extracting(Measure::human)
                .containsExactly(
                        "3,770,000", "1,000", "999", "100", "12.3", "1.00", "0.01", "0.00038", "<0.0001", "0.00");
    }

    @Test
    void fileIsReplacedAsAWhole(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("results.json");
        Results.write(file, Results.json(List.of(new Results("redis", List.of(sheet(Workload.W1))))));

        Results.write(file, Results.json(List.of()));

        assertThat(file).hasContent("[]");
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files).containsExactly(file);
        }
    }

    private static Sheet sheet(Workload workload, Cell... cells) {
        return new Sheet(workload.name(), "", "", new Conditions(Map.of(), Map.of()), List.of(cells));
    }

    private static Cell cell(String name, double... figures) {
        List<Map<String, Double>> windows = new ArrayList<>();
        for (double figure : figures) {
            windows.add(Map.of("ops", figure, "p50", figure));
        }
        return new Cell(name, name.equals(Entrant.LOCKSTEP) ? Entrant.Kind.LOCKSTEP : Entrant.Kind.PEER, "", windows);
    }
}
