package dev.lockstep.mutants;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The tests of an engine are worth something: each of the mistakes that a subclass names makes them fail. */
@Tag("full")
public abstract class PlantedBugs {
    /** Made by JUnit. */
    protected PlantedBugs() {}

    /**
     * Mistakes whose tests need one server and a few seconds.
     *
     * @return the bugs
     */
    protected abstract List<PlantedBug> quickBugs();

    /**
     * Mistakes whose tests need more than that.
     *
     * @return the bugs
     */
    protected abstract List<PlantedBug> slowBugs();

    private List<PlantedBug> bugs() {
        return Stream.of(quickBugs(), slowBugs()).flatMap(List::stream).toList();
    }

    @Test
    final void oneIsFound() {
        assertFound(PlantedBug.oneOf(quickBugs()));
    }

    @TestFactory
    final Stream<DynamicTest> eachIsFound() {
        return bugs().stream().map(bug -> DynamicTest.dynamicTest(bug.name(), () -> assertFound(bug)));
    }

    @Test
    final void withoutOneNothingIsFound() {
        List<String> findings = PlantedBug.findingsWithout(bugs());
        Assertions.assertTrue(findings.isEmpty(), () -> "found without a bug: " + findings);
    }

    private static void assertFound(PlantedBug bug) {
        Assertions.assertFalse(bug.findings().isEmpty(), () -> "not found: " + bug.name());
    }
}
