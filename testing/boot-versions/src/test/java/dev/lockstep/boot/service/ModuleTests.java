package dev.lockstep.boot.service;

import java.io.PrintWriter;
import org.junit.platform.engine.discovery.ClassNameFilter;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TagFilter;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/** Runs tests of a module on the class path of this process, which has other versions than the module was compiled with. */
public final class ModuleTests {
    private ModuleTests() {}

    /**
     * Runs them, and prints how many there were.
     *
     * @param arguments the package, and a pattern for the names of the classes
     */
    public static void main(String[] arguments) {
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(DiscoverySelectors.selectPackage(arguments[0]))
                .filters(
                        ClassNameFilter.includeClassNamePatterns(arguments[1]),
                        TagFilter.excludeTags("full"),
                        TagFilter.excludeTags("soak"))
                .build();
        SummaryGeneratingListener listener = new SummaryGeneratingListener();
        LauncherFactory.create().execute(request, listener);
        listener.getSummary().printFailuresTo(new PrintWriter(System.out, true));
        System.out.println("TESTS: " + listener.getSummary().getTestsSucceededCount() + " passed, "
                + listener.getSummary().getTotalFailureCount() + " failed");
        System.exit(0); // whatever threads are left
    }
}
