package dev.lockstep.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TestSummaryTest {
    private static final Instant BUILD = Instant.parse("2026-01-02T03:04:05Z");

    @TempDir
    private Path project;

    private void report(String folder, String name, Instant written, String... cases) throws IOException {
        Path reports = Files.createDirectories(project.resolve(folder));
        Path file = reports.resolve("TEST-" + name + ".xml");
        Files.writeString(
                file,
                "<testsuite name='dev.lockstep." + name + "'><properties/>" + String.join("", cases) + "</testsuite>");
        Files.setLastModifiedTime(file, FileTime.from(written));
    }

    private static String skipped(String reason) {
        return skipped("a", reason);
    }

    private static String skipped(String name, String reason) {
        return "<testcase name='" + name + "' classname='dev.lockstep.B'>" + reason + "</testcase>";
    }

    @Test
    void skippedTestsOfAllModulesAreCountedByReason() throws IOException {
        String passed = "<testcase name='a' classname='B'/>";
        String failed = "<testcase name='a' classname='B'><failure message='no'>no\n\n  expected: 1\n\tat a"
                + "\n\tat b\n\tat c\n\tat d</failure></testcase>";
        String lacks = skipped("<skipped type='x'><![CDATA[org.opentest4j.TestAbortedException:"
                + " Assumption failed: the fixture lacks [SHARED]\n\tat dev.lockstep]]></skipped>");
        report("backends/redis/target/surefire-reports", "one", BUILD, passed, failed, lacks);
        report("tools/cli/target/failsafe-reports", "two", BUILD.plusSeconds(60), passed, lacks, failed);
        report(
                "core/target/surefire-reports",
                "three",
                BUILD,
                skipped("<skipped message='disabled: no time'/>"),
                skipped("<skipped/>"));
        assertThat(TestSummary.of(project, BUILD).lines())
                .containsExactly(
                        "4 tests run, 2 failed, 4 skipped:",
                        "      2  the fixture lacks [SHARED]",
                        "           B.a",
                        "      1  disabled: no time",
                        "           B.a",
                        "      1  no reason given",
                        "           B.a",
                        "      2  failed",
                        "           B.a in one",
                        "             no",
                        "             expected: 1",
                        "             at a",
                        "             at b",
                        "             at c",
                        "             at d",
                        "           B.a in two",
                        "             no",
                        "             expected: 1",
                        "             at a",
                        "             at b",
                        "             at c",
                        "             at d");
    }

    @Test
    void theFirstSkippedTestsAreNamed() throws IOException {
        String[] cases = IntStream.range(10, 30)
                .mapToObj(i -> skipped("test" + i + "(boolean)[1]", "<skipped message='no time'/>"))
                .toArray(String[]::new);
        report("core/target/surefire-reports", "many", BUILD, cases);
        assertThat(TestSummary.of(project, BUILD).lines())
                .hasSize(13)
                .startsWith("0 tests run, 20 skipped:", "     20  no time", "           B.test10")
                .endsWith("           B.test19", "           and 10 more");
    }

    @Test
    void reportsOfEarlierBuildsDoNotCount() throws IOException {
        String passed = "<testcase name='a' classname='B'/>";
        report("core/target/surefire-reports", "old", BUILD.minusSeconds(1), passed, passed);
        report("core/target/surefire-reports", "new", BUILD, passed);
        assertThat(TestSummary.of(project, BUILD).lines()).containsExactly("1 tests run, 0 skipped");
    }
}
