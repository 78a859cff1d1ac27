package dev.lockstep.mutants;

import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.platform.engine.FilterResult;
import org.junit.platform.engine.TestDescriptor;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.PostDiscoveryFilter;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** Runs some tests of a class in this JVM, and prints a line for each that failed. */
final class PlantedBugMain {
    static final String FAILED = "failed: ";
    static final String SKIPPED = "skipped: ";
    static final String BROKEN = "broken: ";
    static final String DONE = "done";

    private PlantedBugMain() {}

    public static void main(String[] arguments) {
        String[] parts = arguments[0].split(":", 2);
        Set<String> methods =
                Arrays.stream(parts[1].split(",")).map(String::strip).collect(Collectors.toSet());
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(DiscoverySelectors.selectClass(parts[0]))
                .filters((PostDiscoveryFilter) test -> FilterResult.includedIf(isOneOf(methods, test)))
                .configurationParameter("junit.jupiter.extensions.autodetection.enabled", "true")
                .configurationParameter("junit.jupiter.extensions.autodetection.include", BegunTests.class.getName())
                .build();
        Report report = new Report();
        LauncherFactory.create().execute(request, report);
        if (report.run < methods.size() && !report.skipped && !report.broken) {
            System.out.println(BROKEN + "only " + report.run + " tests ran of " + arguments[0]);
        }
        System.out.println(DONE);
        System.exit(0); // whatever a planted bug left running
    }

    /** Prints what failed or was skipped. */
    private static final class Report implements TestExecutionListener {
        private int run;
        private boolean skipped;
        private boolean broken;

        @Override
        public void executionSkipped(TestIdentifier test, String reason) {
            skipped = true;
            print(SKIPPED, test, reason);
        }

        @Override
        public void executionFinished(TestIdentifier test, TestExecutionResult result) {
            String reason = result.getThrowable().map(Throwable::toString).orElse("");
            switch (result.getStatus()) {
                case SUCCESSFUL -> run += test.isTest() ? 1 : 0;
                case ABORTED -> executionSkipped(test, reason);
                case FAILED -> {
                    // A server that did not start, for the class or for one test, finds no bug.
                    boolean begun = test.isTest() && BegunTests.contain(test.getUniqueId());
                    run += begun ? 1 : 0;
                    broken |= !begun;
                    print(begun ? FAILED : BROKEN, test, reason);
                }
            }
        }

        private static void print(String what, TestIdentifier test, String reason) {
            System.out.println(what + test.getDisplayName() + ": "
                    + reason.lines().map(String::strip).collect(Collectors.joining(" ")));
        }
    }

    /** True for containers too: what is below them is looked at in turn. */
    private static boolean isOneOf(Set<String> methods, TestDescriptor test) {
        return test.getSource()
                .filter(MethodSource.class::isInstance)
                .map(source -> methods.contains(((MethodSource) source).getMethodName()))
                .orElse(!test.isTest());
    }
}
