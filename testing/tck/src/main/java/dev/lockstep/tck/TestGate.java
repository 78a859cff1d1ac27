package dev.lockstep.tck;

import java.io.IOException;
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
    private final ProcessGate processes;

    private TestGate(int taken, ProcessGate processes) {
        this.taken = taken;
        this.processes = processes;
    }

    /** Waits until a test may run. */
    static TestGate enter(TestInfo test) throws IOException, InterruptedException {
        boolean ours = test.getTestClass()
                .filter(ContractGroup.class::isAssignableFrom)
                .isPresent();
        boolean alone = test.getTestMethod()
                .map((Method method) -> method.isAnnotationPresent(Alone.class))
                .orElse(false);
        ProcessGate processes = ProcessGate.enter(test);
        TestGate gate = new TestGate(ours && !alone ? 1 : ALL, processes);
        try {
            PLACES.acquire(gate.taken);
        } catch (InterruptedException e) {
            processes.close();
            throw e;
        }
        return gate;
    }

    void leave() throws IOException {
        PLACES.release(taken);
        processes.close();
    }
}
