package dev.lockstep.cli;

import java.io.PrintWriter;
import java.util.Locale;

/** Times as bars, one for each power of two. */
final class Histogram {
    private static final int WIDTH = 50;

    private Histogram() {}

    static void print(Waits waits, PrintWriter out) {
        int[] counts = waits.byPowerOfTwo();
        int first = counts.length;
        int last = -1;
        int most = 1;
        for (int i = 0; i < counts.length; i++) {
            if (counts[i] > 0) {
                first = Math.min(first, i);
                last = i;
                most = Math.max(most, counts[i]);
            }
        }
        for (int i = first; i <= last; i++) {
            int length = (int) Math.ceil((double) counts[i] * WIDTH / most);
            out.println(String.format(Locale.ROOT, "%9s  %-50s %d", time(1L << i), "#".repeat(length), counts[i])
                    .stripTrailing());
        }
    }

    private static String time(long nanos) {
        if (nanos < 1_000) {
            return nanos + " ns";
        }
        if (nanos < 1_000_000) {
            return String.format(Locale.ROOT, "%.1f µs", nanos / 1e3);
        }
        return nanos < 1_000_000_000
                ? String.format(Locale.ROOT, "%.1f ms", nanos / 1e6)
                : String.format(Locale.ROOT, "%.1f s", nanos / 1e9);
    }
}
