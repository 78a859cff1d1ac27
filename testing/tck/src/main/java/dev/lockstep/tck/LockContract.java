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
 * The promises of every engine, as tests. A backend's test class extends this one and gives it a {@link
 * BackendFixture}; it inherits all the tests, grouped by topic.
 *
 * <p>Each test has a fixture, a namespace and clients of its own. After it, the contract checks that its threads have
 * ended and that nothing of it is left at the engine. Most of the time a test waits, so if JUnit's parallel execution is
 * enabled, tests of the contract run side by side; those that must not, such as one that restarts the server, wait for
 * the others. Tests that a subclass adds run alone.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
public abstract class LockContract {
    private @Nullable Bench bench;
    private @Nullable TestGate gate;

    /** For subclasses. */
    protected LockContract() {}

    /**
     * Makes the fixture of one test.
     *
     * @return a fixture; closed by the contract after the test
     * @throws Exception if the engine is not available
     */
    protected abstract BackendFixture fixture() throws Exception;

    final Bench bench() {
        if (bench == null) {
            throw new IllegalStateException("no test is running");
        }
        return bench;
    }

    /** False if the test is skipped. */
    final boolean isRunning() {
        return bench != null;
    }

    @BeforeEach
    final void openFixture(TestInfo test) throws Exception {
        gate = TestGate.enter(test);
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
    final void checkThatNothingIsLeft() throws Exception {
        try {
            if (bench != null) {
                bench.finish();
            }
        } finally {
            if (gate != null) {
                gate.leave();
            }
        }
    }

    @Nested
    class Exclusion extends ExclusionContract {
        Exclusion() {
            super(LockContract.this);
        }
    }

    @Nested
    class LockSemantics extends LockSemanticsContract {
        LockSemantics() {
            super(LockContract.this);
        }
    }

    @Nested
    class Interrupts extends InterruptContract {
        Interrupts() {
            super(LockContract.this);
        }
    }

    @Nested
    class Waiting extends WaitingContract {
        Waiting() {
            super(LockContract.this);
        }
    }

    @Nested
    class Fairness extends FairnessContract {
        Fairness() {
            super(LockContract.this);
        }
    }

    @Nested
    class ReadersAndWriters extends ReadWriteContract {
        ReadersAndWriters() {
            super(LockContract.this);
        }
    }

    @Nested
    class Conversions extends ConversionContract {
        Conversions() {
            super(LockContract.this);
        }
    }

    @Nested
    class Reentrancy extends ReentrancyContract {
        Reentrancy() {
            super(LockContract.this);
        }
    }

    @Nested
    class Leases extends LeaseContract {
        Leases() {
            super(LockContract.this);
        }
    }

    @Nested
    class StickyLocks extends StickyContract {
        StickyLocks() {
            super(LockContract.this);
        }
    }

    @Nested
    class MaximumTimes extends MaxHoldContract {
        MaximumTimes() {
            super(LockContract.this);
        }
    }

    @Nested
    class MinimumTimes extends MinHoldContract {
        MinimumTimes() {
            super(LockContract.this);
        }
    }

    @Nested
    class Loss extends LossContract {
        Loss() {
            super(LockContract.this);
        }
    }

    @Nested
    class Sessions extends SessionContract {
        Sessions() {
            super(LockContract.this);
        }
    }

    @Nested
    class Races extends RaceContract {
        Races() {
            super(LockContract.this);
        }
    }

    @Nested
    class AsynchronousCalls extends AsyncContract {
        AsynchronousCalls() {
            super(LockContract.this);
        }
    }

    @Nested
    class MultiLocks extends MultiLockContract {
        MultiLocks() {
            super(LockContract.this);
        }
    }

    @Nested
    class Semaphores extends SemaphoreContract {
        Semaphores() {
            super(LockContract.this);
        }
    }

    @Nested
    class Permits extends PermitContract {
        Permits() {
            super(LockContract.this);
        }
    }

    @Nested
    class PermitRaces extends PermitRaceContract {
        PermitRaces() {
            super(LockContract.this);
        }
    }

    @Nested
    class Elections extends ElectionContract {
        Elections() {
            super(LockContract.this);
        }
    }

    @Nested
    class Terms extends TermContract {
        Terms() {
            super(LockContract.this);
        }
    }

    @Nested
    class Template extends TemplateContract {
        Template() {
            super(LockContract.this);
        }
    }

    @Nested
    class TemplateVariants extends TemplateVariantsContract {
        TemplateVariants() {
            super(LockContract.this);
        }
    }

    @Nested
    class Names extends NamesContract {
        Names() {
            super(LockContract.this);
        }
    }

    @Nested
    class BadInput extends BadInputContract {
        BadInput() {
            super(LockContract.this);
        }
    }

    @Nested
    class Closing extends CloseContract {
        Closing() {
            super(LockContract.this);
        }
    }

    @Nested
    class Outages extends OutageContract {
        Outages() {
            super(LockContract.this);
        }
    }

    @Nested
    class SilentEngine extends SilentEngineContract {
        SilentEngine() {
            super(LockContract.this);
        }
    }

    @Nested
    class Fallbacks extends FallbackContract {
        Fallbacks() {
            super(LockContract.this);
        }
    }

    @Nested
    class Scale extends ScaleContract {
        Scale() {
            super(LockContract.this);
        }
    }

    @Nested
    class Observers extends ObserverContract {
        Observers() {
            super(LockContract.this);
        }
    }

    @Nested
    class Listeners extends ListenerContract {
        Listeners() {
            super(LockContract.this);
        }
    }

    @Nested
    class CodeOfUsers extends UsersCodeContract {
        CodeOfUsers() {
            super(LockContract.this);
        }
    }

    @Nested
    class Operators extends OperatorContract {
        Operators() {
            super(LockContract.this);
        }
    }

    @Nested
    class ClientStates extends ClientStateContract {
        ClientStates() {
            super(LockContract.this);
        }
    }

    @Nested
    class Options extends OptionsContract {
        Options() {
            super(LockContract.this);
        }
    }

    @Nested
    class Owners extends OwnerContract {
        Owners() {
            super(LockContract.this);
        }
    }

    @Nested
    class Deadlocks extends DeadlockContract {
        Deadlocks() {
            super(LockContract.this);
        }
    }

    @Nested
    class SecondProcesses extends SecondProcessContract {
        SecondProcesses() {
            super(LockContract.this);
        }
    }
}
