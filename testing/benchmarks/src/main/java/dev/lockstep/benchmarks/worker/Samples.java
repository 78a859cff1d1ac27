package dev.lockstep.benchmarks.worker;

import java.util.Arrays;

/** How long things took; of very many, the last million. Not safe for use by several threads. */
final class Samples {
    private static final int KEPT = 1 << 20; // a power of two, as all lengths of the array

    private long[] nanos = new long[1024];
    private long count;

    void add(long sample) {
        if (count == nanos.length && count < KEPT) {
            nanos = Arrays.copyOf(nanos, nanos.length * 2);
        }
        nanos[(int) (count++ & (nanos.length - 1))] = sample;
    }

    long count() {
        return count;
    }

    /** The time in milliseconds that a part of the samples stayed below; not a number if there are none. */
    double millis(double part) {
        int size = (int) Math.min(count, nanos.length);
        if (size == 0) {
            return Double.NaN;
        }
        long[] sorted = Arrays.copyOf(nanos, size);
        Arrays.sort(sorted);
        return sorted[Math.min(size - 1, (int) (size * part))] / 1e6;
    }
}
