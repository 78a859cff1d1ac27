package dev.lockstep.spi;

/**
 * Time, and timers. The seam through which tests turn the clock themselves. Safe for use by many threads.
 *
 * <p>{@code nanoTime} is monotonic and unrelated to the wall clock, as {@link System#nanoTime()}: compare two readings
 * by the sign of their difference.
 */
public interface Scheduler {
    /**
     * Reads the clock.
     *
     * @return nanoseconds since an arbitrary origin
     */
    long nanoTime();

    /**
     * Runs a task once, later. Tasks are short and never block.
     *
     * @param delayNanos from now; zero or less runs it as soon as possible, but not inside this call
     * @param task what to run; what it throws is logged
     * @return a handle to cancel it
     */
    Timer schedule(long delayNanos, Runnable task);

    /** A scheduled task. */
    @FunctionalInterface
    interface Timer {
        /** Cancels the task if it has not begun. */
        void cancel();
    }
}
