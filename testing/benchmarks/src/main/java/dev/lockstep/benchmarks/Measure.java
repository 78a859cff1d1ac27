package dev.lockstep.benchmarks;

import java.util.Locale;

/** What is measured in a window, as workers name it. */
enum Measure {
    OPS("ops", "ops/s", true),
    P50("p50", "p50 ms", false),
    P99("p99", "p99 ms", false),
    MILLIS("ms", "ms", false),
    SHARE("share", "largest/smallest share", false),
    EACH("each", "requests/op", false),
    CLIENT("client", "client CPU µs/op", false),
    SERVER("server", "server CPU µs/op", false),
    REQUESTS("requests", "requests", false),
    RATE("rate", "requests/s", false),
    CPU("cpu", "client CPU %", false),
    HEAP("heap", "client heap MB", false),
    LOST("lost", "lost updates", false);

    final String key;
    final String title;
    final boolean moreIsBetter;

    Measure(String key, String title, boolean moreIsBetter) {
        this.key = key;
        this.title = title;
        this.moreIsBetter = moreIsBetter;
    }

    /** How many times better the first is. */
    double advantage(double mine, double other) {
        return moreIsBetter ? mine / other : other / mine;
    }

    /** A figure with as many digits as mean something. */
    static String human(double value) {
        if (Double.isNaN(value)) {
            return "";
        }
        double size = Math.abs(value);
        if (size >= 1000) {
            return String.format(Locale.ROOT, "%,d", Math.round(value));
        }
        return String.format(
                Locale.ROOT, size >= 100 ? "%.0f" : size >= 10 ? "%.1f" : size >= 0.01 ? "%.2f" : "%.4f", value);
    }
}
