package dev.lockstep.tck;

import java.lang.reflect.Method;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.TestInfo;

/**
 * Lets tests run side by side, if JUnit is configured to, except for those that must be {@link Alone} and those that a
 * backend added, of which the contract knows nothing. Thread-safe. Not tied to threads, unlike a read-write lock: JUnit may
 * call a test's methods in several threads.
 */
final class TestGate {
    private static final int ALL = 1_000;
    private static final Semaphore PLACES = new Semaphore(ALL, true);

    private final int taken;

    private TestGate(int taken) {
        this.taken = taken;
    }

    /** Waits until a test may run. */
    static TestGate enter(TestInfo test) throws InterruptedException {
        boolean ours = test.getTestClass()
                .filter(ContractGroup.class::isAssignableFrom)
                .isPresent();
        boolean alone = test.getTestMethod()
                .map((Method method) -> method.isAnnotationPresent(Alone.class))
                .orElse(false);
        TestGate gate = new TestGate(ours && !alone ? 1 : ALL);
        PLACES.acquire(gate.taken);
        return gate;
    }

    void leave() {
        PLACES.release(taken);
    }
}
