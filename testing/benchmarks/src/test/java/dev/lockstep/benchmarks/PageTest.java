package dev.lockstep.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.benchmarks.Scale.Language;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is generated in the guide is what its results give. */
class PageTest {
    private static final Path DOCS = Path.of(System.getProperty("basedir", "testing/benchmarks"))
            .resolve("../../docs")
            .normalize();

    @Test
    void benchmarksAreThoseOfTheStoredResults(@TempDir Path folder) throws Exception {
        Path copies = Files.createDirectories(folder.resolve("benchmarks"));
        for (Path results : files(DOCS.resolve("benchmarks"), ".json")) {
            Files.copy(results, copies.resolve(results.getFileName()));
        }

        Page.refresh(folder, List.of());

        String again = "as testing/benchmarks/run page writes it";
        assertThat(DOCS.resolve("benchmarks.md")).as(again).hasSameTextualContentAs(folder.resolve("benchmarks.md"));
        List<Path> charts = files(copies, ".svg");
        assertThat(charts).hasSizeGreaterThan(20);
        assertThat(files(DOCS.resolve("benchmarks"), ".svg")).hasSameSizeAs(charts);
        for (Path chart : charts) {
            assertThat(DOCS.resolve("benchmarks").resolve(chart.getFileName()))
                    .as(again)
                    .hasSameTextualContentAs(chart);
        }
    }

    @Test
    void scaleIsWhatIsSimulated() throws Exception {
        List<Scale.Row> rows = Scale.rows(DOCS);

        for (Language language : Language.values()) {
            assertThat(Scale.shown(Files.readString(DOCS.resolve(language.page))))
                    .as("as testing/benchmarks/run scale writes it into " + language.page)
                    .isEqualTo(Scale.table(rows, language));
        }
    }

    private static List<Path> files(Path folder, String end) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.toString().endsWith(end)).sorted().toList();
        }
    }
}
