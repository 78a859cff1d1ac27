package dev.lockstep.tck;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;

/**
 * What every engine promises, as tests. A backend's test class extends this one and gives it a {@link BackendFixture};
 * it inherits all the tests, grouped by topic.
 *
 * <p>Each test has a fixture, a namespace and clients of its own. After it, the contract checks that its threads have
 * ended and that nothing of it is left at the engine.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
public abstract class LockContract {
    private @Nullable Bench bench;

    /** For subclasses. */
    protected LockContract() {}

    /**
     * Makes the fixture of one test.
     *
     * @return a fixture; closed by the contract after the test
     * @throws Exception if the engine cannot be had
     */
    protected abstract BackendFixture fixture() throws Exception;

    final Bench bench() {
        if (bench == null) {
            throw new IllegalStateException("no test is running");
        }
        return bench;
    }

    @BeforeEach
    final void openFixture(TestInfo test) throws Exception {
        BackendFixture fixture = fixture();
        Set<Capability> missing = EnumSet.noneOf(Capability.class);
        Stream.concat(
                        test.getTestClass().map(type -> type.getAnnotation(Requires.class)).stream(),
                        test.getTestMethod().map(method -> method.getAnnotation(Requires.class)).stream())
                .flatMap(requires -> Arrays.stream(requires.value()))
                .forEach(missing::add);
        missing.removeAll(fixture.capabilities());
        if (!missing.isEmpty()) {
            fixture.close();
        }
        assumeTrue(missing.isEmpty(), () -> "the fixture lacks " + missing);
        bench = new Bench(fixture);
    }

    @AfterEach
    final void checkThatNothingIsLeft() throws InterruptedException {
        if (bench != null) {
            bench.finish();
        }
    }

    @Nested
    class Exclusion extends ExclusionContract {
        Exclusion() {
            super(LockContract.this);
        }
    }
}
