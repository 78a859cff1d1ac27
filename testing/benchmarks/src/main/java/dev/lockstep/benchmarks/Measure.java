package dev.lockstep.benchmarks;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Locale;

/** A measure of a window, as workers name it. */
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
    SERVER_SHARE("serverShare", "server CPU %", false),
    LOST("lost", "lost updates", false);

    /** Smaller values are negligible in these comparisons. */
    private static final double LEAST = 0.0001;

    private static final String LEAST_TEXT = "0.0001";

    final String key;
    final String title;
    final boolean moreIsBetter;

    Measure(String key, String title, boolean moreIsBetter) {
        this.key = key;
        this.title = title;
        this.moreIsBetter = moreIsBetter;
    }

    /**
     * How many times better the first is. Contenders that cost nothing are equal; those that did nothing cannot be
     * compared: NaN.
     */
    double advantage(double mine, double other) {
        if (!moreIsBetter && mine == 0 && other == 0) {
            return 1;
        }
        return moreIsBetter ? mine / other : other / mine;
    }

    /** A figure with three significant digits, or two if it is tiny; more would only be noise. */
    static String human(double value) {
        if (Double.isNaN(value)) {
            return "";
        }
        double size = Math.abs(value);
        if (size >= 999.5) {
            BigDecimal rounded = new BigDecimal(value).round(new MathContext(3));
            return String.format(Locale.ROOT, "%,d", rounded.longValue());
        }
        if (size > 0 && size < LEAST) {
            return "<" + LEAST_TEXT;
        }
        if (size > 0 && size < 0.00995) {
            return new BigDecimal(value).round(new MathContext(2)).toPlainString();
        }
        return String.format(Locale.ROOT, size >= 99.95 ? "%.0f" : size >= 9.995 ? "%.1f" : "%.2f", value);
    }
}
