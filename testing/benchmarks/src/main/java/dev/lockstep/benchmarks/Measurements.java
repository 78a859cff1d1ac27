package dev.lockstep.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;

/** The operations a second of each benchmark: a few windows in each round. Not safe for use by several threads. */
final class Measurements {
    private final Map<String, List<List<Double>>> rounds = new TreeMap<>();

    /** A median with the least and the most of what it stands for. */
    record Spread(double median, double min, double max) {
        static Spread of(List<Double> values) {
            List<Double> sorted = values.stream().sorted().toList();
            int size = sorted.size();
            double median = (sorted.get((size - 1) / 2) + sorted.get(size / 2)) / 2;
            return new Spread(median, sorted.get(0), sorted.get(size - 1));
        }
    }

    /** Adds the windows of a benchmark's next round. */
    void add(String benchmark, List<Double> windows) {
        rounds.computeIfAbsent(benchmark, unused -> new ArrayList<>()).add(List.copyOf(windows));
    }

    Set<String> benchmarks() {
        return rounds.keySet();
    }

    /** The speed of a benchmark over all windows of all rounds. */
    Spread speed(String benchmark) {
        return Spread.of(roundsOf(benchmark).stream().flatMap(List::stream).toList());
    }

    /** The time of a benchmark in multiples of its yardstick's, round by round. */
    Spread times(String benchmark, String yardstick) {
        List<List<Double>> own = roundsOf(benchmark);
        List<List<Double>> other = roundsOf(yardstick);
        return Spread.of(IntStream.range(0, Math.min(own.size(), other.size()))
                .mapToObj(round -> Spread.of(other.get(round)).median()
                        / Spread.of(own.get(round)).median())
                .toList());
    }

    private List<List<Double>> roundsOf(String benchmark) {
        return rounds.getOrDefault(benchmark, List.of());
    }
}
