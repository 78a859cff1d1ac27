package dev.lockstep.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TestSummaryTest {
    private static final Instant BUILD = Instant.parse("2026-01-02T03:04:05Z");

    @TempDir
    private Path project;

    private void report(String folder, String name, Instant written, String... cases) throws IOException {
        Path reports = Files.createDirectories(project.resolve(folder));
        Path file = reports.resolve("TEST-" + name + ".xml");
        Files.writeString(file, "<testsuite><properties/>" + String.join("", cases) + "</testsuite>");
        Files.setLastModifiedTime(file, FileTime.from(written));
    }

    private static String skipped(String reason) {
        return "<testcase name='a' classname='B'>" + reason + "</testcase>";
    }

    @Test
    void skippedTestsOfAllModulesAreCountedByReason() throws IOException {
        String passed = "<testcase name='a' classname='B'/>";
        String failed = "<testcase name='a' classname='B'><failure message='no'/></testcase>";
        String lacks = skipped("<skipped type='x'><![CDATA[org.opentest4j.TestAbortedException:"
                + " Assumption failed: the fixture lacks [SHARED]\n\tat dev.lockstep]]></skipped>");
        report("backends/redis/target/surefire-reports", "one", BUILD, passed, failed, lacks);
        report("tools/cli/target/failsafe-reports", "two", BUILD.plusSeconds(60), passed, lacks);
        report(
                "core/target/surefire-reports",
                "three",
                BUILD,
                skipped("<skipped message='disabled: no time'/>"),
                skipped("<skipped/>"));
        assertThat(TestSummary.of(project, BUILD).lines())
                .containsExactly(
                        "3 tests run, 4 skipped:",
                        "      2  the fixture lacks [SHARED]",
                        "      1  disabled: no time",
                        "      1  no reason given");
    }

    @Test
    void reportsOfEarlierBuildsDoNotCount() throws IOException {
        String passed = "<testcase name='a' classname='B'/>";
        report("core/target/surefire-reports", "old", BUILD.minusSeconds(1), passed, passed);
        report("core/target/surefire-reports", "new", BUILD, passed);
        assertThat(TestSummary.of(project, BUILD).lines()).containsExactly("1 tests run, 0 skipped");
    }
}
