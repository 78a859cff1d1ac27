package dev.lockstep.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Wrong options are refused before anything starts. */
class OptionsTest {
    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--json",
                "--json --quick",
                "--engine",
                "--engine --quick",
                "--engine ,",
                "--engine redis,oracle",
                "--workload",
                "--workload W99",
                "--workload W1,W99",
                "--workload W",
                "--peer",
                "--peer nobody",
                "--windows",
                "--windows 0",
                "--windows 2.5",
                "--windows many",
                "--seconds -1",
                "--seconds NaN",
                "--history 0",
                "--idle",
                "--engine memory,sqlite --workload W7",
                "--engine redis --workload W1,MULTI200000 --peer curator",
                "--engine zookeeper --workload W8 --peer LeaderLatch",
                "--fast"
            })
    void contradictoryOptionsAreRefused(String line) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> parse(line))
                .withMessageContaining(line.startsWith("--workload") ? "workload" : "");
    }

    @Test
    void unknownEngineIsAnsweredWithThoseThereAre() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> parse("--engine core"))
                .withMessage(
                        "No engine core; there are [memory, redis, redis-aof, zookeeper, etcd, postgresql, mariadb,"
                                + " mysql, h2, sqlite]");
    }

    @Test
    void unknownWorkloadIsAnsweredWithThoseThereAre() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> parse("--workload X"))
                .withMessageStartingWith("No workload X; there are [W1, W2, ")
                .withMessageContainingAll("W9A", "W9B", "P1", "P2", "E1", "MULTI10", "MULTI1000", "MULTI200000");
    }

    @Test
    void folderIsNoFileForResults() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> parse("--json ."))
                .withMessageContaining(folder.toString())
                .withMessageContaining("is a folder");
    }

    @Test
    void fileInNoFolderIsRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> parse("--json missing/results.json"))
                .withMessageContaining("does not exist");
    }

    @Test
    void fileIsFoundFromWhereTheUserIs() throws Exception {
        Files.createDirectory(folder.resolve("out"));

        assertThat(parse("--json out/results.json").json()).isEqualTo(folder.resolve("out/results.json"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"--windows 7 --seconds 2 --quick", "--quick --seconds 2 --windows 7"})
    void orderOfOptionsDoesNotMatter(String line) {
        Options options = parse(line);

        assertThat(options.quick()).isTrue();
        assertThat(options.plan()).isEqualTo(Plan.QUICK.withWindows(7).withSeconds(2));
    }

    @Test
    void listsAreRead() {
        Options options = parse("--engine redis,etcd --engine redis --workload w1,W9");

        assertThat(options.engines()).containsExactly(Engine.REDIS, Engine.ETCD);
        assertThat(options.workloads()).containsExactly(Workload.W1, Workload.W9A, Workload.W9B);
    }

    @Test
    void everythingIsMeasuredByDefault() {
        Options options = parse("");

        assertThat(options.engines()).containsExactly(Engine.values());
        assertThat(options.workloads()).containsExactly(Workload.values());
        assertThat(options.plan()).isEqualTo(Plan.FULL);
        assertThat(options.isForThePage()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"--quick", "--peer redisson", "--history 1000", "--idle 50"})
    void unusualRunDoesNotChangeThePage(String line) {
        assertThat(parse(line).isForThePage()).isFalse();
    }

    @Test
    void idleClientsRestBeforeEachOperation() {
        Plan plan = parse("--idle 50 --quick").plan();

        assertThat(plan.order(Workload.W1)).isEqualTo("pairs threads=1 names=own idle=50");
        assertThat(plan.order(Workload.W5)).isEqualTo("hand-off settle=50");
        assertThat(plan.order(Workload.W3)).isEqualTo(Workload.W3.order());
        assertThat(plan.text(Workload.W1)).endsWith("clients idle for 50 ms before each operation");
    }

    private Options parse(String line) {
        return Options.parse(line.isEmpty() ? List.of() : List.of(line.split(" ")), folder, folder);
    }
}
