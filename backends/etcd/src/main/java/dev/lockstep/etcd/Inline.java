package dev.lockstep.etcd;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The wait of a caller's thread for its own round trip. */
final class Inline {
    private Inline() {}

    /**
     * Waits for an answer, with a bound. An interrupt ends the wait and stays set; the core decides how to continue.
     */
    static void await(CompletableFuture<?> answer, Duration atMost) {
        if (answer.isDone() || atMost.isZero() || atMost.isNegative()) {
            return;
        }
        try {
            answer.get(atMost.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            // The caller learns of the failure from the answer's stage.
        }
    }
}
