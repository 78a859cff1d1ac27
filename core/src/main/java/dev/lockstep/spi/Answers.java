package dev.lockstep.spi;

import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Waiting for an engine's answers, with a bound. Safe for use by many threads. */
public final class Answers {
    private Answers() {}

    /**
     * Waits in the calling thread. An interrupt does not end the wait, which is short; it stays set. Used to open and
     * close, which are not waits for a lock.
     *
     * @param answer what is waited for
     * @param atMost for how long
     * @return whether there is an answer, a result or a failure
     */
    public static boolean await(Future<?> answer, Duration atMost) {
        boolean interrupted = false;
        long end = System.nanoTime() + atMost.toNanos();
        while (!answer.isDone()) {
            try {
                answer.get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
            } catch (InterruptedException e) {
                interrupted = true;
            } catch (ExecutionException | CancellationException | TimeoutException e) {
                break;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return answer.isDone();
    }

    /**
     * Bounds an answer by the request timeout.
     *
     * @param <T> the kind of answer
     * @param context whose request timeout and timers are used
     * @param answer fails when the time is over
     * @param late what it fails with
     * @return the answer
     */
    public static <T extends @Nullable Object> CompletableFuture<T> within(
            BackendContext context, CompletableFuture<T> answer, Supplier<? extends Exception> late) {
        Scheduler.Timer limit = context.scheduler()
                .schedule(context.requestTimeout().toNanos(), () -> answer.completeExceptionally(late.get()));
        answer.whenComplete((done, failure) -> limit.cancel());
        return answer;
    }
}
