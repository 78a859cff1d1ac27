package dev.lockstep.internal.events;

import dev.lockstep.spi.Scheduler;
import java.time.Duration;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Lets some messages of one kind through and counts the others. The number of those that were left out is part of the next
 * message, or is reported when the period is over and no message has come. Safe for use by many threads.
 */
final class MessageLimit {
    private final Scheduler scheduler;
    private final int burst;
    private final Duration period;
    private final IntConsumer report;
    private long sinceNanos;
    private int admitted;
    private int refused;
    private int toReport; // by the first message of a period, which was admitted
    private Scheduler.@Nullable Timer timer;

    /**
     * Makes a limit.
     *
     * @param report gets the number of messages that were left out, if no later message says it; called without a mutex
     */
    MessageLimit(Scheduler scheduler, int burst, Duration period, IntConsumer report) {
        this.scheduler = scheduler;
        this.burst = burst;
        this.period = period;
        this.report = report;
    }

    synchronized boolean admits() {
        long now = scheduler.nanoTime();
        if (admitted == 0 || now - sinceNanos >= period.toNanos()) {
            sinceNanos = now;
            admitted = 0;
            toReport = takeRefused();
        }
        if (admitted == burst) {
            refused++;
            if (timer == null) {
                timer = scheduler.schedule(sinceNanos + period.toNanos() - now, this::report);
            }
            return false;
        }
        admitted++;
        return true;
    }

    /** How many messages before the one that was admitted last were not logged, as an end of a sentence; once. */
    synchronized String leftOut() {
        int count = toReport;
        toReport = 0;
        return count == 0 ? "" : " (" + count + " such messages before were left out.)";
    }

    /** Reports what was left out and not reported yet: the period is over, or the client closes. */
    void report() {
        int count = takeRefused();
        if (count > 0) {
            report.accept(count);
        }
    }

    private synchronized int takeRefused() {
        if (timer != null) {
            timer.cancel();
            timer = null;
        }
        int count = refused;
        refused = 0;
        return count;
    }
}
