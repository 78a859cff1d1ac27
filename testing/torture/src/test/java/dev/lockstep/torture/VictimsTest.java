package dev.lockstep.torture;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.junit.jupiter.api.Test;

/** Which calls may fail because of a deadlock. */
class VictimsTest {
    private static final long SETTLE = 50;

    private final History history = new History();
    private final Victims victims = new Victims();

    /** A client that holds one lock waits for another one, from a time to a time. */
    private int waits(int client, int held, int wanted, long from, long until) {
        int outer = history.ask(client, held, false, false, from - 5);
        history.entered(outer, from - 3, 1);
        int inner = history.ask(client, wanted, false, false, from);
        history.exited(inner, until);
        history.exited(outer, until + 1);
        victims.inside(inner, outer);
        return inner;
    }

    private Verdict verdict() {
        Verdict verdict = new Verdict();
        victims.check(history, SETTLE, verdict);
        return verdict;
    }

    @Test
    void aCallInACycleMayFail() {
        waits(0, 1, 2, 100, 400);
        waits(1, 2, 3, 200, 400);
        victims.failed(waits(2, 3, 1, 300, 350));
        assertThat(verdict().broken(Rule.VICTIM)).isZero();
        assertThat(verdict().checked(Rule.VICTIM)).isEqualTo(1);
    }

    @Test
    void aCycleMayBeClosedAfterTheVictimBeganToWait() {
        victims.failed(waits(0, 1, 2, 100, 400));
        waits(1, 2, 1, 300, 500);
        assertThat(verdict().broken(Rule.VICTIM)).isZero();
    }

    @Test
    void aChainIsNoCycle() {
        waits(0, 1, 2, 100, 400);
        victims.failed(waits(1, 3, 1, 200, 350));
        assertThat(verdict().broken(Rule.VICTIM)).isEqualTo(1);
    }

    @Test
    void waitsThatWereNeverThereAtOnceAreNoCycle() {
        waits(0, 1, 2, 100, 190);
        waits(1, 2, 3, 150, 400);
        victims.failed(waits(2, 3, 1, 200, 350));
        assertThat(verdict().broken(Rule.VICTIM)).isEqualTo(1);
    }

    @Test
    void aClientThatIsCutOffIsSeenToWaitForSomeTime() {
        waits(0, 1, 2, 100, 190);
        history.add(new FaultWindow("cut", "worker 0", 0, FaultWindow.ALL, Set.of(), 180, 400, true));
        victims.failed(waits(1, 2, 1, 200, 350));
        assertThat(verdict().broken(Rule.VICTIM)).isZero();
        assertThat(verdict().excused(Rule.VICTIM)).isEqualTo(1);
    }
}
