package dev.lockstep.spi;

import java.time.Instant;

/**
 * Time, and timers. Tests replace it to control the clock. Safe for use by many threads.
 *
 * <p>{@code nanoTime} is the clock of leases. Like {@link System#nanoTime()} it has an arbitrary origin and never goes
 * back: compare two readings by the sign of their difference. Unlike it, it also counts the time for which the machine
 * was suspended, since leases end at the engine meanwhile. A wall clock that is set forward cannot be distinguished
 * from that, and counts, too. How long a caller waits is measured by {@link #monotonicNanos()}, which no wall clock
 * changes.
 */
public interface Scheduler {
    /**
     * Reads the clock of leases.
     *
     * @return nanoseconds since an arbitrary origin
     */
    long nanoTime();

    /**
     * Reads the clock of leases for a request that is about to be sent. Cheaper than {@link #nanoTime()}: it may miss a
     * suspension of the last millisecond, so it may be early but never late. Validity that counts from it is safe; whether
     * validity has ended must be compared with {@code nanoTime}.
     *
     * @return nanoseconds since the origin of {@link #nanoTime()}
     */
    default long requestNanos() {
        return nanoTime();
    }

    /**
     * Reads the clock of waits: it stops while the machine is suspended, as timers do, and has an origin of its own.
     *
     * @return nanoseconds since an arbitrary origin
     */
    default long monotonicNanos() {
        return nanoTime();
    }

    /**
     * Reads the wall clock, for people to read: nothing about leases is decided by it.
     *
     * @return the time
     */
    default Instant wallTime() {
        return Instant.now();
    }

    /**
     * Runs a task once, later. Tasks are short and never block.
     *
     * @param delayNanos from now; zero or less runs it as soon as possible, but not inside this call
     * @param task what to run; exceptions that it throws are logged
     * @return a handle to cancel it
     */
    Timer schedule(long delayNanos, Runnable task);

    /**
     * Runs a task each time {@link #nanoTime()} turns out to have jumped, because the machine was suspended or its wall
     * clock set forward. Timers do not notice that: a task that was due at a time of {@code nanoTime} may be overdue.
     *
     * @param task what to run, on the thread of the timers
     * @return a handle to stop that
     */
    default Timer afterJumps(Runnable task) {
        return () -> {};
    }

    /** A scheduled task. */
    @FunctionalInterface
    interface Timer {
        /** Cancels the task if it has not begun. */
        void cancel();
    }
}
