package dev.lockstep.boot.service;

import java.io.PrintWriter;
import org.junit.platform.engine.discovery.ClassNameFilter;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TagFilter;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.springframework.core.SpringVersion;

/** Runs the tests of {@code lockstep-spring} on the class path of this process, which has another version of Spring. */
public final class SpringTests {
    private SpringTests() {}

    /** Runs them, and prints how many there were. */
    public static void main(String[] arguments) {
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(DiscoverySelectors.selectPackage("dev.lockstep.spring"))
                .filters(
                        ClassNameFilter.includeClassNamePatterns(".*Test"),
                        TagFilter.excludeTags("full"),
                        TagFilter.excludeTags("soak"))
                .build();
        SummaryGeneratingListener listener = new SummaryGeneratingListener();
        LauncherFactory.create().execute(request, listener);
        listener.getSummary().printFailuresTo(new PrintWriter(System.out, true));
        System.out.println("SPRING " + SpringVersion.getVersion() + ": "
                + listener.getSummary().getTestsSucceededCount() + " passed, "
                + listener.getSummary().getTotalFailureCount() + " failed");
        System.exit(0); // whatever threads are left
    }
}
