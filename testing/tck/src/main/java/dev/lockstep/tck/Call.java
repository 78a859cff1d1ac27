package dev.lockstep.tck;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A call that an {@link Actor} makes in its own thread.
 *
 * @param <T> what it returns
 */
final class Call<T> {
    /** A piece of work that may throw anything. */
    @FunctionalInterface
    interface Work<T> {
        T run() throws Exception;
    }

    /** A piece of work without a result. */
    @FunctionalInterface
    interface Step {
        void run() throws Exception;
    }

    private final CompletableFuture<T> result = new CompletableFuture<>();
    private final Work<T> work;
    private final String actor;

    Call(String actor, Work<T> work) {
        this.actor = actor;
        this.work = work;
    }

    void run() {
        try {
            result.complete(work.run());
        } catch (Throwable e) {
            result.completeExceptionally(e);
        }
    }

    /** Runs a step where only unchecked exceptions are allowed. */
    static void quietly(Step step) {
        try {
            step.run();
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    boolean isDone() {
        return result.isDone();
    }

    /** Waits for the result; throws what the call threw. */
    T get() throws Exception {
        return get(Bench.PATIENCE);
    }

    T get(Duration patience) throws Exception {
        try {
            return result.get(patience.toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            Throwable cause = e.getCause();
            if (cause instanceof Exception exception) {
                throw exception;
            }
            throw (Error) cause;
        } catch (TimeoutException e) {
            throw new AssertionError(
                    "A call of " + actor + " has not returned within " + patience.toSeconds() + " s", e);
        }
    }
}
