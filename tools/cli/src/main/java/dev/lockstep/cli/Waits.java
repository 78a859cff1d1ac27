package dev.lockstep.cli;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** How long something took, many times. */
final class Waits {
    private final long[] sorted;

    Waits(List<Long> nanos) {
        sorted = nanos.stream().mapToLong(Long::longValue).sorted().toArray();
    }

    int count() {
        return sorted.length;
    }

    /** The time that a part of them did not exceed, in milliseconds; 0 if there is none. */
    double millis(double part) {
        if (sorted.length == 0) {
            return 0;
        }
        int rank = (int) Math.ceil(part * sorted.length);
        return sorted[Math.max(rank, 1) - 1] / 1e6;
    }

    String shown(double part) {
        return sorted.length == 0 ? "-" : String.format(Locale.ROOT, "%.3f ms", millis(part));
    }

    /** How many lie in each of the ranges from {@code 2^i} to {@code 2^(i+1)} nanoseconds. */
    int[] byPowerOfTwo() {
        int[] counts = new int[Long.SIZE];
        for (long nanos : sorted) {
            counts[Long.SIZE - 1 - Long.numberOfLeadingZeros(Math.max(nanos, 1))]++;
        }
        return counts;
    }

    Map<String, Object> toJson() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("p50", millis(0.5));
        json.put("p99", millis(0.99));
        return json;
    }
}
