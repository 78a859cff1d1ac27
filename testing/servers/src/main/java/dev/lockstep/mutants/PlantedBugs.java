package dev.lockstep.mutants;

import java.lang.reflect.Method;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The tests of an engine find bugs: each of the mistakes that a subclass names makes them fail. */
public abstract class PlantedBugs {
    /** Made by JUnit. */
    protected PlantedBugs() {}

    /**
     * The mistakes. Their tests are named without the package, which is that of the subclass.
     *
     * @return the bugs
     */
    protected abstract List<PlantedBug> bugs();

    private List<PlantedBug> bugsOfPackage() {
        String prefix = getClass().getPackageName() + ".";
        return bugs().stream()
                .map(bug -> new PlantedBug(bug.name(), bug.right(), bug.wrong(), prefix + bug.tests()))
                .toList();
    }

    /** In each build, so that a change of the code which leaves a bug without a place is noticed at once. */
    @Test
    final void eachHasAPlaceAndTests() throws ClassNotFoundException {
        for (PlantedBug bug : bugsOfPackage()) {
            bug.place();
            String[] tests = bug.tests().split(":", 2);
            Set<String> methods = new HashSet<>();
            addMethods(Class.forName(tests[0], false, getClass().getClassLoader()), methods);
            for (String method : tests[1].split(",")) {
                Assertions.assertTrue(methods.contains(method.strip()), () -> "no test " + method + " for " + bug);
            }
        }
    }

    /** Adds the methods of a class, of those that it extends, and of their nested ones. */
    private static void addMethods(Class<?> tests, Set<String> names) {
        for (Class<?> type = tests; type != null && type != Object.class; type = type.getSuperclass()) {
            for (Method method : type.getDeclaredMethods()) {
                names.add(method.getName());
            }
            for (Class<?> nested : type.getDeclaredClasses()) {
                if (nested.isAnnotationPresent(Nested.class)) {
                    addMethods(nested, names);
                }
            }
        }
    }

    @Tag("full")
    @TestFactory
    final Stream<DynamicTest> eachIsFound() {
        return bugsOfPackage().stream().map(bug -> DynamicTest.dynamicTest(bug.name(), () -> assertFound(bug)));
    }

    @Tag("full")
    @Test
    final void withoutOneNothingIsFound() {
        List<String> findings = PlantedBug.findingsWithout(bugsOfPackage());
        Assertions.assertTrue(findings.isEmpty(), () -> "found without a bug: " + findings);
    }

    private static void assertFound(PlantedBug bug) {
        Assertions.assertFalse(bug.findings().isEmpty(), () -> "not found: " + bug.name());
    }
}
