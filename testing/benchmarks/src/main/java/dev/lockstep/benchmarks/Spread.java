package dev.lockstep.benchmarks;

import java.util.Collection;
import java.util.List;

/**
 * A median with the minimum and the maximum of its values.
 *
 * @param median the median
 * @param min the least
 * @param max the most
 */
public record Spread(double median, double min, double max) {
    /**
     * Of some values.
     *
     * @param values at least one
     * @return their spread
     */
    public static Spread of(Collection<Double> values) {
        List<Double> sorted = values.stream().sorted().toList();
        int size = sorted.size();
        double median = (sorted.get((size - 1) / 2) + sorted.get(size / 2)) / 2;
        return new Spread(median, sorted.get(0), sorted.get(size - 1));
    }
}
