package dev.lockstep.mutants;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.servers.JavaProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A planted bug counts as found only if a test itself failed. */
@Timeout(120)
class PlantedBugMainTest {
    /** Surefire does not run nested static classes, so these run only below. */
    static class FailsBeforeEachTest {
        @BeforeEach
        void start() {
            throw new IllegalStateException("the server did not start");
        }

        @Test
        void test() {}
    }

    static class FailsBeforeAllTests {
        @BeforeAll
        static void start() {
            throw new IllegalStateException("the server did not start");
        }

        @Test
        void test() {}
    }

    static class FailsItself {
        @Test
        void test() {
            throw new AssertionError("found");
        }

        @Test
        void passes() {}
    }

    private static List<String> run(Class<?> tests, String methods) {
        List<String> lines = new ArrayList<>();
        try (JavaProcess process =
                JavaProcess.start(PlantedBugMain.class.getName(), tests.getName() + ": " + methods)) {
            do {
                lines.add(process.next(Duration.ofSeconds(60)));
            } while (!lines.contains(PlantedBugMain.DONE));
        }
        return lines;
    }

    @Test
    void aFailureOfATestIsAFinding() {
        assertThat(run(FailsItself.class, "test, passes"))
                .containsExactly("failed: test(): java.lang.AssertionError: found", PlantedBugMain.DONE);
    }

    @Test
    void aFailureBeforeATestIsNone() {
        String broken = "broken: test(): java.lang.IllegalStateException: the server did not start";
        assertThat(run(FailsBeforeEachTest.class, "test")).containsExactly(broken, PlantedBugMain.DONE);
    }

    @Test
    void aFailureBeforeAllTestsIsNone() {
        assertThat(run(FailsBeforeAllTests.class, "test"))
                .hasSize(2)
                .first()
                .asString()
                .startsWith("broken: ")
                .endsWith("the server did not start");
    }

    @Test
    void aTestThatIsMissingIsReported() {
        assertThat(run(FailsItself.class, "passes, renamed")).first().asString().startsWith("broken: only 1 tests ran");
    }
}
