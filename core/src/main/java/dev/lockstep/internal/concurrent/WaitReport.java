package dev.lockstep.internal.concurrent;

import java.util.concurrent.CompletableFuture;

/**
 * The report to an observer that a call must wait. The end of the call is reported after it, so a call that ends on another
 * thread waits for it, without a lock that the observer would run under. Made by the thread that reports; safe for use by many
 * threads.
 */
public final class WaitReport {
    private final Thread reporter = Thread.currentThread();
    private final CompletableFuture<Void> done = new CompletableFuture<>();

    /** Reports. Once. */
    public void run(Runnable waiting) {
        try {
            waiting.run();
        } finally {
            done.complete(null);
        }
    }

    /** Waits until the observer knows. An observer that itself ends the call meanwhile does not wait for itself. */
    public void await() {
        if (reporter != Thread.currentThread()) {
            done.join();
        }
    }
}
