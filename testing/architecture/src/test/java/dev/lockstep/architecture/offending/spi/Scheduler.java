package dev.lockstep.architecture.offending.spi;

/** By which a decision must not set a timer. */
public interface Scheduler {
    long nanoTime();

    Timer schedule(long delayNanos, Runnable task);

    /** A scheduled task. */
    interface Timer {
        void cancel();
    }
}
