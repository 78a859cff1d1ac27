package dev.lockstep.memory;

import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Test;

/** {@link LinearizabilityTest} with real threads. Runs in a JVM of its own. */
class LinearizabilityStressTest {
    private static final int ROUNDS = Integer.getInteger("lockstep.lincheck.rounds", 3);

    @Test
    void ofThreadsOfOneClient() {
        stress(LinearizabilityTest.OneClient.class);
    }

    @Test
    void ofTwoClients() {
        stress(LinearizabilityTest.TwoClients.class);
    }

    private static void stress(Class<?> guarded) {
        new StressOptions()
                .iterations(ROUNDS)
                .invocationsPerIteration(500)
                .threads(3)
                .actorsBefore(0)
                .actorsPerThread(3)
                .actorsAfter(1)
                .sequentialSpecification(LinearizabilityTest.Counter.class)
                .check(guarded);
    }
}
