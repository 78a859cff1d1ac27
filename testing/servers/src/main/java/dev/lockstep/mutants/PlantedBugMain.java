package dev.lockstep.mutants;

import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.platform.engine.FilterResult;
import org.junit.platform.engine.TestDescriptor;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.PostDiscoveryFilter;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/** Runs some tests of a class in this JVM, and prints a line for each that failed. */
final class PlantedBugMain {
    static final String FAILED = "failed: ";
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
                .build();
        SummaryGeneratingListener listener = new SummaryGeneratingListener();
        LauncherFactory.create().execute(request, listener);
        TestExecutionSummary summary = listener.getSummary();
        summary.getFailures()
                .forEach(failure -> System.out.println(FAILED
                        + failure.getTestIdentifier().getDisplayName() + ": "
                        + String.valueOf(failure.getException())
                                .lines()
                                .findFirst()
                                .orElse("")));
        if (summary.getTestsSucceededCount() + summary.getTestsFailedCount() < methods.size()) {
            System.out.println(BROKEN + "only " + summary.getTestsStartedCount() + " tests ran of " + methods);
        }
        System.out.println(DONE);
        System.exit(0); // whatever a planted bug left running
    }

    /** True for containers too: what is below them is looked at in turn. */
    private static boolean isOneOf(Set<String> methods, TestDescriptor test) {
        return test.getSource()
                .filter(MethodSource.class::isInstance)
                .map(source -> methods.contains(((MethodSource) source).getMethodName()))
                .orElse(!test.isTest());
    }
}
