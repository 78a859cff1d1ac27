package dev.lockstep.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Speeds that are told elsewhere are those of the last run of the benchmarks. */
class FiguresTest {
    /** A row of a table about a workload, whose id stands in its first cell. */
    private static final Pattern ROW = Pattern.compile("^\\|[^|]*\\b(W\\d[AB]?)\\b[^|]*\\|(.*)\\|$");

    @ParameterizedTest
    @ValueSource(strings = {"docs/which-engine.md", "docs/zh/which-engine.md"})
    void speedsAreThoseThatWereMeasured(String path) throws IOException {
        String page = Files.readString(Guide.root().resolve("docs/benchmarks.md"));
        Map<String, List<String>> measured =
                rows(page.substring(page.indexOf("## All engines"), page.indexOf("## Goals")));
        Map<String, List<String>> told = rows(Files.readString(Guide.root().resolve(path)));
        assertThat(told).containsKeys("W1", "W2", "W5");
        assertThat(measured).containsAllEntriesOf(told);
    }

    private static Map<String, List<String>> rows(String page) {
        return page.lines()
                .map(ROW::matcher)
                .filter(Matcher::find)
                .collect(Collectors.toMap(
                        row -> row.group(1),
                        row -> Arrays.stream(row.group(2).split("\\|"))
                                .map(String::strip)
                                .toList()));
    }
}
