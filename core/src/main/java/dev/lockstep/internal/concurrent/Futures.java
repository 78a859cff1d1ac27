package dev.lockstep.internal.concurrent;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Waiting for futures. */
public final class Futures {
    private Futures() {}

    /** Waits until a future is done, however it ends. False if the time is up first. Interrupts are kept for later. */
    public static boolean await(CompletableFuture<?> future, long nanos) {
        if (future.isDone()) {
            return true;
        }
        boolean interrupted = false;
        long deadline = System.nanoTime() + nanos;
        try {
            while (!future.isDone()) {
                try {
                    future.get(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (TimeoutException e) {
                    return future.isDone();
                } catch (ExecutionException e) {
                    return true;
                } catch (java.util.concurrent.CancellationException e) {
                    return true;
                }
            }
            return true;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
