package dev.lockstep.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Figures that are repeated on other pages are those of the last run of the benchmarks and of the torture. */
class FiguresTest {
    private static final Pattern WORKLOAD = Pattern.compile("\\bW\\d[AB]?\\b");
    private static final Pattern RATIO = Pattern.compile("[\\d.,]+× \\([\\d.,]+ … [\\d.,]+\\)");
    private static final Pattern MEDIAN = Pattern.compile("[\\d.,]+×");
    private static final Pattern NUMBER = Pattern.compile("\\d+");
    private static final Pattern SHEDLOCK = Pattern.compile("(?i)shedlock[a-z-]*`? (\\d+\\.\\d+(?:\\.\\d+)?)");

    @ParameterizedTest
    @ValueSource(strings = {"docs/which-engine.md", "docs/zh/which-engine.md"})
    void speedsAreThoseThatWereMeasured(String path) throws IOException {
        Map<String, List<String>> measured = speeds("docs/benchmarks.md");
        Map<String, List<String>> told = speeds(path);
        assertThat(told).containsKeys("W1", "W2", "W5");
        told.forEach((workload, speeds) -> assertThat(speeds)
                .as(workload + " on " + path + ", and on docs/benchmarks.md")
                .isEqualTo(measured.get(workload)));
        if (!path.contains("/zh/")) {
            assertThat(engines(path)).isEqualTo(engines("docs/benchmarks.md"));
        }
    }

    /** The table of the front page shows the first, second and fourth workload on Redis, beside Redisson's usual lock. */
    @ParameterizedTest
    @ValueSource(strings = {"README.md", "README.zh-CN.md"})
    void ratiosOfTheFrontPageAreThoseThatWereMeasured(String path) throws IOException {
        List<String> shown = Files.readString(Guide.root().resolve(path))
                .lines()
                .map(RATIO::matcher)
                .filter(Matcher::find)
                .map(Matcher::group)
                .toList();
        assertThat(shown)
                .as("the ratios of " + path)
                .containsExactly(
                        ratio("Redis", "W1", "Redisson RLock"),
                        ratio("Redis", "W2", "Redisson RLock"),
                        ratio("Redis", "W4", "Redisson RLock"));
    }

    /** The sentence below that table has the medians beside Spring's lock, in the same workloads. */
    @ParameterizedTest
    @ValueSource(strings = {"README.md", "README.zh-CN.md"})
    void mediansBesideSpringsLockAreThoseThatWereMeasured(String path) throws IOException {
        String sentence = Files.readString(Guide.root().resolve(path)).replaceAll("(?s).*`RedisLockRegistry`", "");
        List<String> shown = MEDIAN.matcher(sentence)
                .results()
                .map(MatchResult::group)
                .limit(3)
                .toList();
        assertThat(shown)
                .as("the medians of " + path)
                .containsExactly(
                        median("Redis", "W1", "Spring RedisLockRegistry"),
                        median("Redis", "W2", "Spring RedisLockRegistry"),
                        median("Redis", "W4", "Spring RedisLockRegistry"));
    }

    private static String median(String engine, String workload, String contender) throws IOException {
        return ratio(engine, workload, contender).replaceFirst(" .*", "");
    }

    /** The last column of a contender's row in docs/benchmarks.md. */
    private static String ratio(String engine, String workload, String contender) throws IOException {
        String page = Files.readString(Guide.root().resolve("docs/benchmarks.md"));
        int start = page.indexOf("\n## " + engine + "\n");
        int row = page.indexOf("\n| " + contender + " ", page.indexOf("\n**" + workload + "**", start));
        assertThat(start > 0 && row > start)
                .as(contender + " in " + workload + " on " + engine)
                .isTrue();
        Matcher ratio = RATIO.matcher(page.substring(row + 1, page.indexOf('\n', row + 1)));
        assertThat(ratio.find()).as("a ratio").isTrue();
        return ratio.group();
    }

    /** The one table of a page with all engines side by side, and a row for each workload. */
    private static List<List<String>> comparison(String path) throws IOException {
        return Guide.page(path).tables().stream()
                .filter(table -> table.get(0).get(0).isEmpty() && table.get(0).contains("memory"))
                .filter(table -> table.stream()
                        .anyMatch(row -> WORKLOAD.matcher(row.get(0)).find()))
                .findFirst()
                .orElseThrow(() -> new AssertionError(path + " does not have engines side by side"));
    }

    private static List<String> engines(String path) throws IOException {
        return comparison(path).get(0);
    }

    /** The figures of a page for each workload, by engine. */
    private static Map<String, List<String>> speeds(String path) throws IOException {
        Map<String, List<String>> speeds = new TreeMap<>();
        for (List<String> row : comparison(path)) {
            Matcher workload = WORKLOAD.matcher(row.get(0));
            if (workload.find()) {
                speeds.put(workload.group(), row.subList(1, row.size()));
            }
        }
        return speeds;
    }

    /** One version is built with, tested, measured and described. */
    @Test
    void versionsOfShedLockAreThoseOfTheBuild() throws IOException {
        Matcher poms = Pattern.compile("<shedlock\\.version>([\\d.]+)<")
                .matcher(Files.readString(Guide.root().resolve("pom.xml")));
        assertThat(poms.find()).as("a version in pom.xml").isTrue();
        assertThat(Files.readString(Guide.root().resolve("testing/benchmarks/peers/jdbc/pom.xml")))
                .as("the benchmarks measure the version that is tested")
                .contains("<version>${shedlock.version}</version>")
                .doesNotContain("<shedlock.version>");
        int named = 0;
        for (Path page : Guide.pages(Guide.root())) {
            Matcher version = SHEDLOCK.matcher(Files.readString(page));
            while (version.find()) {
                named++;
                assertThat(poms.group(1) + ".")
                        .as(version.group() + " in " + page)
                        .startsWith(version.group(1) + ".");
            }
        }
        assertThat(named).as("versions of ShedLock in the guide").isGreaterThan(10);
    }

    @ParameterizedTest
    @ValueSource(strings = {"docs/cannot-promise.md", "docs/zh/cannot-promise.md"})
    void lossesAreThoseOfTheLastTorture(String path) throws IOException {
        Page torture = Guide.page("docs/torture.md");
        String told = Files.readString(Guide.root().resolve(path)).replaceAll("\\s+", " ");
        assertThat(told)
                .as("sums of the results of docs/torture.md")
                .contains(" " + thousands(sum(torture, "sections", 0)) + " ")
                .contains(" " + number(sum(torture, "faults", 0)) + " ")
                .contains(" " + number(sum(torture, "updates lost", 0)) + " ")
                .contains(" " + number(sum(torture, "refused by token", 0)) + " ");
        assertThat(sum(torture, "updates lost", 2))
                .as("lost in spite of tokens")
                .isZero();
    }

    /** The sum of a column of the results: of the nth number in each of its cells. */
    private static int sum(Page torture, String head, int nth) {
        List<List<String>> table = torture.tables().stream()
                .filter(each -> each.get(0).get(0).startsWith("engine"))
                .findFirst()
                .orElseThrow(() -> new AssertionError("docs/torture.md has no table of engines"));
        List<String> heads =
                table.get(0).stream().map(each -> each.replaceFirst(":.*", "")).toList();
        assertThat(heads).as("the results of docs/torture.md").contains(head);
        int column = heads.indexOf(head);
        return table.subList(1, table.size()).stream()
                .mapToInt(row -> Integer.parseInt(NUMBER.matcher(row.get(column).replaceAll("(?<=\\d),(?=\\d)", ""))
                        .results()
                        .skip(nth)
                        .findFirst()
                        .orElseThrow()
                        .group()))
                .sum();
    }

    private static String number(int value) {
        return String.format(Locale.ROOT, "%,d", value);
    }

    private static String thousands(int value) {
        return number(Math.round(value / 1000f) * 1000);
    }
}
