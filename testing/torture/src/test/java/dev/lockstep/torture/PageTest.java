package dev.lockstep.torture;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class PageTest {
    private static String page(Violation violation) {
        Verdict verdict = new Verdict();
        verdict.add(violation);
        try (MemoryRig rig = new MemoryRig(Duration.ofSeconds(1), backend -> backend, client -> client)) {
            Report.Pauses pauses = new Report.Pauses(0, 0);
            return new Report(rig, Settings.of(Duration.ofSeconds(1)), new Observer(4), verdict, 1, 1, pauses).toHtml();
        }
    }

    @Test
    void brokenRulesAreReportedEvenIfTheyAreNoLocks() {
        assertThat(page(new Violation(Rule.LEFTOVERS, -1, 5, "a thread <x>", "")))
                .contains("A promise was broken", "LEFTOVERS: a thread &lt;x&gt;");
    }

    @Test
    void excusedViolationsAreNotCalledBroken() {
        assertThat(page(new Violation(Rule.EXCLUSION, 0, 5, "two", "clock set back")))
                .contains("All that the engine promises held", "not promised in: clock set back")
                .doesNotContain("<li>");
    }
}
