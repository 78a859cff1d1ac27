package dev.lockstep.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.torture.Fault.Injected;
import dev.lockstep.torture.Fault.Length;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The rules that a fault excuses, depending on how its injection ended. */
class NemesisTest {
    private static final Duration TTL = Duration.ofMillis(10);
    private static final int VICTIM = 1;

    private final Observer observer = new Observer(1);

    private void inflictOnce(Fault.Injection injection) throws Exception {
        Fault fault = Fault.of("session ended", Length.MOMENT, injection).excusing(Rule.EXCLUSION, Rule.ORDER);
        new Nemesis(List.of(fault), observer, TTL, 1).inflict(fault, new Random(1));
    }

    /** Two clients are inside at the same time, right after the fault. */
    private Verdict overlapOf(int client, int other) {
        int first = observer.ask(client, 0, false, false);
        int second = observer.ask(other, 0, false, false);
        observer.enter(first, 1);
        observer.enter(second, 2);
        for (int looks = 0; looks < 2; looks++) {
            observer.look(first, true);
            observer.look(second, true);
        }
        return new Checker(observer.history(), Duration.ofMinutes(1).toNanos()).check();
    }

    private FaultWindow window() {
        assertThat(observer.history().faults()).hasSize(1);
        return observer.history().faults().get(0);
    }

    @Test
    void aFaultThatWasInjectedExcusesItsVictim() throws Exception {
        inflictOnce(random -> Injected.client("a session", VICTIM));
        Verdict verdict = overlapOf(VICTIM, 2);
        assertThat(verdict.broken(Rule.EXCLUSION)).isZero();
        assertThat(verdict.excused(Rule.EXCLUSION)).isEqualTo(1);
    }

    @Test
    void aFaultThatWasInjectedExcusesNoOtherClient() throws Exception {
        inflictOnce(random -> Injected.client("a session", VICTIM));
        assertThat(overlapOf(2, 3).broken(Rule.EXCLUSION)).isEqualTo(1);
    }

    @Test
    void aFaultThatFailedExcusesNoClient() throws Exception {
        inflictOnce(random -> {
            throw new IOException("nobody has a session");
        });
        assertThat(window().hasFailed()).isTrue();
        assertThat(overlapOf(VICTIM, 2).broken(Rule.EXCLUSION)).isEqualTo(1);
    }

    @Test
    void aFaultThatMayHaveBeenInjectedExcusesItsVictim() throws Exception {
        inflictOnce(NemesisTest::unconfirmed);
        Verdict verdict = overlapOf(2, VICTIM);
        assertThat(verdict.broken(Rule.EXCLUSION)).isZero();
        assertThat(verdict.excused(Rule.EXCLUSION)).isEqualTo(1);
        assertThat(window().hasFailed()).isTrue();
    }

    @Test
    void aFaultThatMayHaveBeenInjectedExcusesNoOtherClient() throws Exception {
        inflictOnce(NemesisTest::unconfirmed);
        assertThat(overlapOf(2, 3).broken(Rule.EXCLUSION)).isEqualTo(1);
    }

    private static Injected unconfirmed(Random random) throws Fault.UnconfirmedException {
        throw new Fault.UnconfirmedException(Injected.client("a session", VICTIM), new IOException("no answer"));
    }
}
