package dev.lockstep.mutants;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.extension.BeforeTestExecutionCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Knows the tests of this JVM whose own code has begun, which is when all that comes before each test has succeeded. JUnit
 * makes it, only where tests run with a planted bug. Thread-safe.
 */
public final class BegunTests implements BeforeTestExecutionCallback {
    private static final Set<String> IDS = ConcurrentHashMap.newKeySet();

    /** Made by JUnit. */
    public BegunTests() {}

    @Override
    public void beforeTestExecution(ExtensionContext context) {
        IDS.add(context.getUniqueId());
    }

    static boolean contain(String uniqueId) {
        return IDS.contains(uniqueId);
    }
}
