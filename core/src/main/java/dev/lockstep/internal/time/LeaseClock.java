package dev.lockstep.internal.time;

import dev.lockstep.internal.concurrent.Handles;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;

/**
 * A clock that never goes back and keeps running while the machine is suspended, made of the two clocks that Java has.
 * Safe for use by many threads.
 */
final class LeaseClock {
    /*
     * Overview. On Linux and macOS System.nanoTime stops while the machine is suspended; the wall clock does not, but it can
     * be set. So this clock is the monotonic one plus the time by which the wall clock has got ahead of it:
     *
     *   ahead = wall - monotonic                       constant, unless the machine sleeps or an operator sets the wall clock
     *   ahead has grown:    it is counted as suspended, and added from then on
     *   ahead has shrunk:   the wall clock was set back; the smaller value is what the next growth is measured from
     *
     * The two clocks cannot be read in one step. A thread that is stopped between the two reads sees a difference that is
     * not there; so a difference that matters is measured again, until both reads happened within a short time.
     *
     * Windows advances its wall clock in steps of up to 15.6 ms. If a step counted as a suspension, this clock would run
     * faster than time. So the least difference that counts is larger there; its monotonic clock counts sleep anyway.
     */

    /** A smaller difference is the wall clock's granularity, or the time between the two reads. */
    private static final long NOTICED_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    /** The same where the wall clock advances in steps: two of them, and some more. */
    private static final long NOTICED_NANOS_ON_WINDOWS = TimeUnit.MILLISECONDS.toNanos(40);

    /** Two reads within this time count as one. */
    private static final long TOGETHER_NANOS = TimeUnit.MICROSECONDS.toNanos(100);

    private static final int MOST_READS = 50;

    /** For how long a request may rely on the last look at the wall clock. */
    private static final long RECENT_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private static final VarHandle LOOKED =
            Handles.of(MethodHandles.lookup(), LeaseClock.class, "lookedNanos", long.class);

    private final LongSupplier monotonicNanos;
    private final LongSupplier wallMillis;
    private final long noticedNanos;
    private final LongConsumer afterJump;
    private volatile Known known;

    /** When the wall clock was last looked at. Written seldom, since threads share it. */
    private volatile long lookedNanos;

    /**
     * The known state of the two clocks.
     *
     * @param aheadNanos by how much the wall clock is ahead of the monotonic clock
     * @param suspendedNanos how long the machine was suspended, as far as was noticed
     */
    private record Known(long aheadNanos, long suspendedNanos) {}

    /**
     * Makes a clock.
     *
     * @param system the operating system's name, for the granularity of its wall clock
     * @param afterJump called with the length of a suspension when it was counted, in the thread that noticed it
     */
    LeaseClock(LongSupplier monotonicNanos, LongSupplier wallMillis, String system, LongConsumer afterJump) {
        this.monotonicNanos = monotonicNanos;
        this.wallMillis = wallMillis;
        this.noticedNanos = system.startsWith("Windows") ? NOTICED_NANOS_ON_WINDOWS : NOTICED_NANOS;
        this.afterJump = afterJump;
        this.known = new Known(measureAhead(), 0);
        this.lookedNanos = monotonicNanos.getAsLong();
    }

    /** The time, with all that the machine was suspended for. */
    long nanoTime() {
        long monotonic = monotonicNanos.getAsLong();
        long ahead = ahead(monotonic);
        Known current = known;
        if (differs(ahead, current)) {
            Known before = current;
            current = learn();
            if (current.suspendedNanos != before.suspendedNanos) {
                afterJump.accept(current.suspendedNanos - before.suspendedNanos);
            }
        }
        if (monotonic - lookedNanos > RECENT_NANOS / 2) {
            LOOKED.setRelease(this, monotonic);
        }
        return monotonic + current.suspendedNanos;
    }

    /** The same time, or an earlier one if the machine was suspended in the last millisecond. */
    long requestNanos() {
        long monotonic = monotonicNanos.getAsLong();
        return monotonic - lookedNanos < RECENT_NANOS ? monotonic + known.suspendedNanos : nanoTime();
    }

    private synchronized Known learn() {
        Known current = known;
        long ahead = measureAhead();
        if (differs(ahead, current)) {
            long suspended = Math.max(ahead - current.aheadNanos, 0);
            current = new Known(ahead, current.suspendedNanos + suspended);
            known = current;
        }
        return current;
    }

    private boolean differs(long ahead, Known known) {
        long difference = ahead - known.aheadNanos;
        return difference > noticedNanos || difference < -noticedNanos;
    }

    private long measureAhead() {
        long best = 0;
        long shortest = Long.MAX_VALUE;
        for (int reads = 0; reads < MOST_READS && shortest > TOGETHER_NANOS; reads++) {
            long before = monotonicNanos.getAsLong();
            long ahead = ahead(before);
            long between = monotonicNanos.getAsLong() - before;
            if (between < shortest) {
                shortest = between;
                best = ahead;
            }
        }
        return best;
    }

    private long ahead(long monotonic) {
        return TimeUnit.MILLISECONDS.toNanos(wallMillis.getAsLong()) - monotonic;
    }
}
