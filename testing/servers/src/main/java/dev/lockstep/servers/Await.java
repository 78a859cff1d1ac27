package dev.lockstep.servers;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** Waits for conditions, looking every few milliseconds. */
final class Await {
    private static final long INTERVAL_NANOS = Duration.ofMillis(5).toNanos();

    private Await() {}

    /** A condition that may fail to be looked at, which counts as not yet true. */
    @FunctionalInterface
    interface Condition {
        boolean holds() throws IOException;
    }

    /** Returns once the condition holds, and throws with the last failure if it does not in time or on interrupt. */
    static void until(String what, Duration timeout, Condition condition) {
        long deadline = System.nanoTime() + timeout.toNanos();
        Exception last = null;
        while (true) {
            try {
                if (condition.holds()) {
                    return;
                }
                last = null;
            } catch (IOException | ServerException e) {
                last = e;
            }
            if (System.nanoTime() - deadline >= 0 || Thread.currentThread().isInterrupted()) {
                String why = Thread.currentThread().isInterrupted() ? "interrupted" : "not within " + timeout;
                String message = "waited until " + what + ": " + why;
                throw last == null ? new ServerException(message) : new ServerException(message, last);
            }
            LockSupport.parkNanos(INTERVAL_NANOS);
        }
    }
}
