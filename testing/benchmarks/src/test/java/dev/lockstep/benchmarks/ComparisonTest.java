package dev.lockstep.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.lockstep.benchmarks.Results.Cell;
import dev.lockstep.benchmarks.Results.Sheet;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A cell is worse if its median is more than 5 % from that of before, in the wrong direction. */
class ComparisonTest {
    @Test
    void fasterIsBetter() {
        Comparison comparison = compare("W1", "ops", 100, 150);

        assertThat(comparison.text()).containsPattern("W1 +\\| +Lockstep \\| +ops/s \\| +100 \\| +150 \\| +1.50×");
        assertThat(comparison.worse()).isFalse();
    }

    @Test
    void slowerByMoreThanATwentiethIsWorse() {
        assertThat(compare("W1", "ops", 100, 96).worse()).isFalse();
        assertThat(compare("W1", "ops", 100, 94).worse()).isTrue();
        assertThat(compare("W1", "ops", 100, 94).text()).contains("0.94× | **worse**");
    }

    @Test
    void moreIsWorseForTimesAndRequests() {
        assertThat(compare("W5", "p50", 1, 1.2).worse()).isTrue();
        assertThat(compare("W5", "p50", 1.2, 1).worse()).isFalse();
        assertThat(compare("W7", "rate", 0, 2).worse()).isTrue();
        assertThat(compare("W7", "rate", 0, 0).worse()).isFalse();
        assertThat(compare("W7", "rate", 2, 0).worse()).isFalse();
    }

    @Test
    void mediansAreCompared() {
        Comparison comparison = Comparison.of(
                List.of(redis("W1", cell(Entrant.LOCKSTEP, "ops", 1, 100, 1000))),
                List.of(redis("W1", cell(Entrant.LOCKSTEP, "ops", 99, 100, 101))));

        assertThat(comparison.text()).contains("1.00×").doesNotContain("worse");
    }

    @Test
    void peerThatBecameWorseIsShownButNotLocksteps() {
        Comparison comparison = Comparison.of(
                List.of(redis("W1", cell(Entrant.LOCKSTEP, "ops", 100), cell("peer", "ops", 100))),
                List.of(redis("W1", cell(Entrant.LOCKSTEP, "ops", 100), cell("peer", "ops", 50))));

        assertThat(comparison.text()).containsPattern("peer .*0.50× \\| \\*\\*worse");
        assertThat(comparison.worse()).isFalse();
    }

    @Test
    void onlyWhatIsInBothIsCompared() {
        Comparison comparison = Comparison.of(
                List.of(redis("W1", cell(Entrant.LOCKSTEP, "ops", 100), cell("gone", "ops", 1))),
                List.of(redis("W1", cell(Entrant.LOCKSTEP, "ops", 100), cell("new", "ops", 1))));

        assertThat(comparison.text()).contains("Lockstep").doesNotContain("gone", "new");
    }

    @Test
    void filesOfARunAndOfThePageAreRead(@TempDir Path folder) throws Exception {
        Results results = redis("W1", cell(Entrant.LOCKSTEP, "ops", 100));
        results.write(folder.resolve("redis.json"));
        Results.write(folder.resolve("results.json"), Results.json(List.of(results)));

        assertThat(Comparison.of(List.of("redis.json", "results.json"), folder).text())
                .startsWith("Redis\n")
                .contains("1.00×");
    }

    @Test
    void incomparableFilesAreRefused(@TempDir Path folder) throws Exception {
        assertThatIllegalArgumentException().isThrownBy(() -> Comparison.of(List.of("one.json"), folder));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Comparison.of(List.of("one.json", "two.json"), folder))
                .withMessageContaining("one.json");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Comparison.of(List.of(redis("W1")), List.of(redis("W2"))))
                .withMessageContaining("in common");
    }

    private static Comparison compare(String workload, String key, double before, double after) {
        return Comparison.of(
                List.of(redis(workload, cell(Entrant.LOCKSTEP, key, before))),
                List.of(redis(workload, cell(Entrant.LOCKSTEP, key, after))));
    }

    private static Results redis(String workload, Cell... cells) {
        return new Results(
                "redis", List.of(new Sheet(workload, "", "", new Conditions(Map.of(), Map.of()), List.of(cells))));
    }

    private static Cell cell(String name, String key, double... figures) {
        return new Cell(
                name,
                name.equals(Entrant.LOCKSTEP) ? Entrant.Kind.LOCKSTEP : Entrant.Kind.PEER,
                "",
                Arrays.stream(figures).mapToObj(figure -> Map.of(key, figure)).toList());
    }
}
