package dev.lockstep.benchmarks.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class TableTest {
    private static final String REENTRY = Reentry.class.getName();

    private final Measurements measurements = new Measurements();

    @Test
    void ratioIsTakenWithinARoundAndItsMedianShown() {
        measure("reentrantLock", List.of(100e6, 120e6), List.of(50e6), List.of(90e6));
        measure("lockstep", List.of(55e6), List.of(25e6), List.of(30e6));

        assertThat(Table.of(measurements).lines())
                .anyMatch(line -> line.contains("reentrantLock")
                        && line.contains("95.00 M")
                        && line.contains("50.00 M … 120.00 M"))
                .anyMatch(line -> line.contains("lockstep")
                        && line.contains("2.00 (2.00 … 3.00)")
                        && line.contains("at most 3: met"));
    }

    @Test
    void missedGoalIsSaid() {
        measure("reentrantLock", List.of(100e6));
        measure("lockstep", List.of(20e6));

        assertThat(Table.of(measurements)).contains("at most 3: MISSED");
    }

    @Test
    void scenarioThatWasNotMeasuredIsLeftOut() {
        measure("reentrantLock", List.of(100e6));

        assertThat(Table.of(measurements)).contains("re-entry").doesNotContain("16 threads");
    }

    @SafeVarargs
    private void measure(String method, List<Double>... rounds) {
        for (List<Double> windows : rounds) {
            measurements.add(REENTRY + "." + method, windows);
        }
    }
}
