package dev.lockstep.benchmarks.core;

import dev.lockstep.benchmarks.Spread;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;

/** The operations a second of each benchmark: a few windows in each round. Not safe for use by several threads. */
final class Measurements {
    private final Map<String, List<List<Double>>> rounds = new TreeMap<>();

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
