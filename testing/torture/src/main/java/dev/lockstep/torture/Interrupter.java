package dev.lockstep.torture;

import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Interrupts a thread after a time, but not once what was to be interrupted is over. Used once. */
final class Interrupter implements AutoCloseable {
    private final Thread target = Thread.currentThread();
    private boolean over; // guarded by this

    Interrupter(ScheduledExecutorService timer, long nanos) {
        timer.schedule(this::interrupt, nanos, TimeUnit.NANOSECONDS);
    }

    private synchronized void interrupt() {
        if (!over) {
            target.interrupt();
        }
    }

    /** Calls it off. The thread is not interrupted afterwards. */
    @Override
    public void close() {
        synchronized (this) {
            over = true;
        }
        Thread.interrupted();
    }
}
