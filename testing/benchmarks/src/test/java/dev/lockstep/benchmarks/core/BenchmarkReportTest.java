package dev.lockstep.benchmarks.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.lockstep.benchmarks.core.BenchmarkReport.Arguments;
import dev.lockstep.benchmarks.core.BenchmarkReport.Plan;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Wrong arguments are refused before anything is measured, and each round is written. */
class BenchmarkReportTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "--rounds",
                "--rounds 0",
                "--rounds many",
                "--rounds --quick",
                "--output",
                "--fast",
                "-q",
                "[Reentry"
            })
    void whatCannotBeMeantIsRefused(String line) {
        assertThatIllegalArgumentException().isThrownBy(() -> Arguments.parse(List.of(line.split(" "))));
    }

    @Test
    void aFileIsNoFolderForResults(@TempDir Path folder) throws IOException {
        Path file = Files.createFile(folder.resolve("results"));

        assertThatIllegalArgumentException()
                .isThrownBy(() -> Arguments.parse(List.of("--output", file.toString())))
                .withMessageContaining("is a file");
    }

    @ParameterizedTest
    @ValueSource(strings = {"--rounds 2 --quick Reentry", "--quick Reentry --rounds 2"})
    void orderOfArgumentsDoesNotMatter(String line) {
        Arguments arguments = Arguments.parse(List.of(line.split(" ")));

        assertThat(arguments.plan()).isEqualTo(Plan.QUICK.withRounds(2));
        assertThat(arguments.patterns()).containsExactly("Reentry");
    }

    @Test
    void resultsAreReplacedAsAWhole(@TempDir Path folder) throws IOException {
        Path json = Files.writeString(folder.resolve("benchmarks.json"), "of an earlier round, and longer");

        BenchmarkReport.write(json, List.of());

        assertThat(Files.readString(json)).isEqualToIgnoringWhitespace("[]");
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files).containsExactly(json);
        }
    }
}
