package dev.lockstep.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.cli.Launched.Run;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The demos, as several processes. */
@Timeout(180)
class DemoIT {
    @TempDir
    private Path folder;

    private Run run(String... args) throws IOException, InterruptedException {
        try (Launched launched = start(args)) {
            return launched.end();
        }
    }

    private Launched start(String... args) throws IOException {
        return Launched.start(folder, Map.of("JAVA_TOOL_OPTIONS", "-Djava.io.tmpdir=" + folder), args);
    }

    @Test
    void flashSaleIsOversoldWithoutAndExactWithALock() throws Exception {
        Run run = run("demo", "--seed", "7");
        assertThat(run.code()).as(run.toString()).isZero();
        assertThat(run.out())
                .contains("3 processes with 8 threads")
                .containsPattern("Without a lock \\d+ of 100 items were sold: [1-9]\\d* too many")
                .containsPattern("with a lock +all +600 +100 +500 +0 ")
                .contains("With a lock 100: exact")
                .doesNotContain("\u001b");
        assertNothingLeft();
    }

    @Test
    void flashSaleIsExactThoughAProcessIsKilled() throws Exception {
        Run run = run("demo", "flash-sale", "--kill", "--json", "--ttl", "3", "--buyers", "200", "--stock", "60");
        assertThat(run.code()).as(run.toString()).isZero();
        assertThat(run.out().lines()).hasSize(1);
        assertThat(run.out())
                .contains("\"exact\":true")
                .contains("\"killed\":true")
                .contains("\"sold\":60,\"turnedAway\":140,\"oversold\":0,\"lost\":0")
                .containsPattern("\"lastToken\":\"\\d+\"");
        assertNothingLeft();
    }

    @Test
    @Tag("full")
    void flashSaleTakesAnyUrlAndMoreStockThanBuyers() throws Exception {
        String url = "jdbc:h2:file:" + folder.resolve("locks") + ";AUTO_SERVER=TRUE";
        Run run = run(
                "demo",
                "--url",
                url,
                "--json",
                "--processes",
                "2",
                "--threads",
                "2",
                "--buyers",
                "20",
                "--stock",
                "50");
        assertThat(run.code()).as(run.toString()).isZero();
        assertThat(run.out()).startsWith("{\"engine\":\"jdbc\"").contains("\"sold\":20,\"turnedAway\":0");
    }

    @Test
    @Tag("full")
    void orderNumbersAreInOrderWithALock() throws Exception {
        Run run = run("demo", "order-numbers", "--numbers", "300");
        assertThat(run.code()).as(run.toString()).isZero();
        assertThat(run.out())
                .containsPattern("without a lock +300 +[1-9]\\d* +no ")
                .containsPattern("with a lock +300 +0 +yes +yes ");
        assertNothingLeft();
    }

    @Test
    void pausedHolderIsNotifiedAndItsWriteIsRefused() throws Exception {
        Run run = run("demo", "pause", "--ttl", "3", "--json");
        assertThat(run.code()).as(run.toString()).isZero();
        List<String> events = Stream.of(run.out().split("\"process\":"))
                .skip(1)
                .map(part -> part.replaceAll("(\\d),\"event\":\"(\\w+)\".*\\R?", "$1 $2"))
                .toList();
        assertThat(events)
                .containsExactly(
                        "1 granted",
                        "1 written",
                        "1 stopped",
                        "2 waits",
                        "2 granted",
                        "2 written",
                        "1 continued",
                        "1 lost",
                        "1 refused");
    }

    @Test
    void interruptEndsAllProcesses() throws Exception {
        try (Launched demo = start("demo", "--buyers", "1000000", "--stock", "1000000")) {
            assertThat(demo.line()).startsWith("Starting 3 processes");
            ProcessHandle handle = ProcessHandle.of(demo.pid()).orElseThrow();
            while (handle.children().count() < 3) {
                Thread.onSpinWait();
            }
            List<ProcessHandle> workers = handle.children().toList();
            demo.signal("INT");
            assertThat(demo.end().code()).isEqualTo(130);
            workers.forEach(worker -> worker.onExit().join());
        }
    }

    @Test
    void memoryCannotBeSharedByProcesses() throws Exception {
        Run run = run("demo", "--url", "memory:x");
        assertThat(run.code()).isEqualTo(ExitCodes.USAGE);
        assertThat(run.err()).contains("memory:");
    }

    private void assertNothingLeft() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files.map(file -> file.getFileName().toString()))
                    .noneMatch(name -> name.startsWith("lockstep-") || name.startsWith("sqlite-"));
        }
    }
}
