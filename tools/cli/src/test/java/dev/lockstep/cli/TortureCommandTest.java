package dev.lockstep.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(180)
class TortureCommandTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int run(String... args) {
        return Main.run(new PrintWriter(out), new PrintWriter(err), args);
    }

    @Test
    void memoryIsTorturedAndAPageIsWritten(@TempDir Path folder) throws IOException {
        Path report = folder.resolve("report");
        String[] command = {
            "torture",
            "--engine",
            "memory",
            "--duration",
            "2",
            "--seed",
            "7",
            "--report",
            report.toString(),
            "--history",
            report.toString()
        };
        assertThat(run(command)).as(() -> out + "\n" + err).isEqualTo(ExitCodes.OK);
        assertThat(out.toString()).contains("MEMORY", "HELD", "two inside within their leases", "FAULT");
        assertThat(Files.readString(report.resolve("memory.html"))).startsWith("<!doctype html>");
        assertThat(Files.readString(report.resolve("torture.json"))).contains("\"holds\":true", "\"seed\":7");
        out.getBuffer().setLength(0);
        String history = report.resolve("memory.history").toString();
        assertThat(run("torture", "--check", history)).isEqualTo(ExitCodes.OK);
        assertThat(out.toString()).startsWith("memory: ").contains("two inside within their leases: 0");
    }

    @Test
    void aFileThatIsNoHistoryIsNotChecked(@TempDir Path folder) throws IOException {
        Path notes = Files.writeString(folder.resolve("notes.txt"), "nothing");
        assertThat(run("torture", "--check", notes.toString())).isNotEqualTo(ExitCodes.OK);
        assertThat(err.toString()).contains("notes.txt is not a history of a torture");
        assertThat(run("torture", "--check", "missing.txt")).isEqualTo(ExitCodes.USAGE);
        assertThat(err.toString()).contains("there is no file missing.txt");
    }

    @Test
    void aPathThatIsNoFolderIsReportedBeforeTheRun(@TempDir Path folder) throws IOException {
        Path file = Files.writeString(folder.resolve("notes.txt"), "nothing");
        for (String option : new String[] {"--report", "--history"}) {
            assertThat(run("torture", "--engine", "memory", option, file.toString()))
                    .isEqualTo(ExitCodes.USAGE);
        }
        assertThat(err.toString().lines()).hasSize(2).allMatch(line -> line.contains("notes.txt is not a folder"));
    }

    @Test
    void anEngineMustBeNamed() {
        assertThat(run("torture", "--url", "")).isEqualTo(ExitCodes.USAGE);
        assertThat(run("torture", "--engine", "none")).isEqualTo(ExitCodes.USAGE);
        assertThat(run("torture", "--engine", "memory", "--threads", "0")).isEqualTo(ExitCodes.USAGE);
        assertThat(err.toString().lines()).hasSize(3);
    }

    @Test
    void enginesHaveTheNamesThatReportsHave() {
        assertThat(run("torture", "--engine", "redis-sentinel,REDIS_CLUSTER", "--threads", "0"))
                .isEqualTo(ExitCodes.USAGE);
        assertThat(err.toString()).contains("--threads").doesNotContain("--engine");
        assertThat(run("torture", "--help")).isEqualTo(ExitCodes.OK);
        assertThat(out.toString()).contains("redis-sentinel");
    }

    @Test
    void timesMayHaveUnits() {
        Seconds seconds = new Seconds();
        assertThat(seconds.convert("1.5")).isEqualTo(Duration.ofMillis(1_500));
        assertThat(seconds.convert("90s")).isEqualTo(Duration.ofSeconds(90));
        assertThat(seconds.convert("30m")).isEqualTo(Duration.ofMinutes(30));
        assertThat(seconds.convert("2h")).isEqualTo(Duration.ofHours(2));
    }
}
