package dev.lockstep.cli;

import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** A progress line that is overwritten in place; without a terminal, only the final line is written. */
final class ProgressLine {
    private static final int WIDTH = 30;
    private static final long REDRAW_NANOS = TimeUnit.MILLISECONDS.toNanos(80);

    private final PrintWriter out;
    private final boolean live;
    private final String title;
    private final int all;
    private final long start = System.nanoTime();
    private long drawn = start - REDRAW_NANOS;

    ProgressLine(PrintWriter out, boolean live, String title, int all) {
        this.out = out;
        this.live = live;
        this.title = title;
        this.all = all;
    }

    void show(int done, String words) {
        long now = System.nanoTime();
        if (live && now - drawn >= REDRAW_NANOS) {
            drawn = now;
            out.print("\r" + text(done, words) + "\u001b[K");
            out.flush();
        }
    }

    void end(int done, String words) {
        out.println((live ? "\r" : "") + text(done, words) + (live ? "\u001b[K" : ""));
    }

    private String text(int done, String words) {
        int filled = all == 0 ? WIDTH : (int) ((long) WIDTH * done / all);
        String bar = "#".repeat(filled) + "-".repeat(WIDTH - filled);
        double seconds = (System.nanoTime() - start) / 1e9;
        return String.format(Locale.ROOT, "%-15s [%s] %d/%d  %s  %.1f s", title, bar, done, all, words, seconds);
    }
}
