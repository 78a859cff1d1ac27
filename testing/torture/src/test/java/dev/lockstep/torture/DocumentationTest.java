package dev.lockstep.torture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** All that docs/torture.md names exists. */
class DocumentationTest {
    private static final Path ROOT = Path.of("../..");

    private static String section(String heading) throws IOException {
        String page = Files.readString(ROOT.resolve("docs/torture.md"));
        return page.split("\n## " + Pattern.quote(heading), 2)[1].split("\n## ", 2)[0];
    }

    private static long rows(String table) {
        return table.lines().filter(line -> line.startsWith("|")).count() - 2;
    }

    @Test
    void everyTestThatItNamesExists() throws IOException {
        String table = section("The faults that break locks");
        Set<String> named = Pattern.compile("`([a-z]+[A-Z][A-Za-z]*)`")
                .matcher(table)
                .results()
                .map((MatchResult match) -> match.group(1))
                .collect(Collectors.toSet());
        assertThat(named).hasSizeGreaterThan(40);
        String tests = sources("testing/tck/src/main") + sources("backends") + sources("core/src/test");
        assertThat(named)
                .allSatisfy(
                        name -> assertThat(tests.indexOf("void " + name + "(")).isPositive());
        assertThat(rows(table)).isEqualTo(55);
    }

    private static String sources(String folder) throws IOException {
        StringBuilder sources = new StringBuilder();
        try (Stream<Path> files = Files.walk(ROOT.resolve(folder))) {
            for (Path file :
                    files.filter(each -> each.toString().endsWith(".java")).toList()) {
                sources.append(Files.readString(file));
            }
        }
        return sources.toString();
    }

    @Test
    void everyFaultThatItNamesExists() throws IOException {
        Set<String> named = Pattern.compile("torture[^;|(]*\\(([^)]*)\\)")
                .matcher(section("The faults that break locks"))
                .results()
                .flatMap((MatchResult match) -> Stream.of(match.group(1).split(", ")))
                .collect(Collectors.toSet());
        assertThat(named).hasSizeGreaterThan(20);
        String torture = sources("testing/torture/src/main");
        assertThat(named).allSatisfy(fault -> assertThat(torture).contains('"' + fault + '"'));
    }

    @Test
    void everyPlantedBugIsInItsTable() throws IOException {
        assertThat(rows(section("Can it fail?"))).isEqualTo(PlantedBug.values().length);
    }
}
