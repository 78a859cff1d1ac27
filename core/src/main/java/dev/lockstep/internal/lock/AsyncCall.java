package dev.lockstep.internal.lock;

import dev.lockstep.LockObserver;
import dev.lockstep.internal.turnstile.Hold;
import dev.lockstep.internal.turnstile.Releases;
import dev.lockstep.internal.turnstile.Result;
import dev.lockstep.internal.turnstile.Turnstile;
import dev.lockstep.internal.turnstile.TurnstileContext;
import dev.lockstep.internal.turnstile.Waiter;
import dev.lockstep.spi.Scheduler;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Turns the result of a call without a thread into that of its future, on the client's executor. */
final class AsyncCall<T> implements Consumer<Result> {
    private final Function<@Nullable Hold, T> convert;

    /** Null once it is completed: the claim may keep this call for as long as the lock is held, but not the lease. */
    private volatile @Nullable CompletableFuture<T> future;

    private final @Nullable Observation observed;

    /**
     * Starts a call. The first completion of its future decides: if it was cancelled, the hold is released.
     *
     * @param enter makes the call wait for its result
     */
    static <T> CompletableFuture<T> start(
            TurnstileContext client,
            @Nullable Observation observed,
            Function<@Nullable Hold, T> convert,
            Function<Consumer<Result>, Waiter> enter) {
        CompletableFuture<T> future = new CompletableFuture<>();
        Waiter waiter;
        try {
            waiter = enter.apply(new AsyncCall<>(future, convert, observed));
        } catch (RuntimeException e) {
            if (observed != null) {
                observed.failed(e);
            }
            if (e instanceof IllegalStateException) {
                throw e; // the client is closed: as every other call, this one throws at once
            }
            future.completeExceptionally(e);
            return future;
        }
        follow(waiter, client, future, observed);
        return future;
    }

    AsyncCall(CompletableFuture<T> future, Function<@Nullable Hold, T> convert, @Nullable Observation observed) {
        this.future = future;
        this.convert = convert;
        this.observed = observed;
    }

    @Override
    public void accept(Result result) {
        CompletableFuture<T> waiting = future;
        future = null;
        if (waiting == null) {
            throw new IllegalStateException("A call has one result.");
        }
        Hold hold = result instanceof Result.Held held ? held.hold() : null;
        Throwable error =
                result instanceof Result.Failed failed ? failed.exception().get() : null;
        if (observed != null) {
            observe(observed, waiting.isDone(), hold, error);
        }
        if (error != null) {
            waiting.completeExceptionally(error);
        } else if (waiting.isDone() || !waiting.complete(convert.apply(hold))) {
            if (hold != null) {
                Releases.drop(hold);
            }
        }
    }

    /** Reports the end of an asynchronous call, whose future may be done because it was cancelled. */
    private static void observe(
            Observation observed, boolean cancelled, @Nullable Hold hold, @Nullable Throwable error) {
        if (cancelled) {
            observed.ended(LockObserver.CallOutcome.CANCELLED, null);
        } else if (error != null) {
            observed.failed(error);
        } else if (hold == null) {
            observed.refused();
        } else {
            observed.acquired(hold);
        }
    }

    /**
     * Ends a call that has entered, when its time is up or its future is cancelled or completed by other code, if it has
     * no result by then.
     */
    static void follow(
            Waiter waiter, TurnstileContext client, CompletableFuture<?> future, @Nullable Observation observed) {
        if (waiter.result() == null) {
            if (observed != null) {
                observed.mayWait(waiter);
            }
            endInTime(waiter, client, future);
        }
        future.whenComplete((done, error) -> {
            if (waiter.result() == null) {
                waiter.giveUp();
            }
        });
    }

    /** Ends a call when its time is up, if it has a deadline and no result by then. */
    private static void endInTime(Waiter waiter, TurnstileContext client, CompletableFuture<?> future) {
        if (waiter.isBounded()) {
            Deadline deadline = new Deadline(client, waiter);
            deadline.in(waiter.boundNanos());
            future.whenComplete((done, error) -> deadline.cancel());
        }
    }

    private static final class Deadline {
        private final TurnstileContext client;
        private final Waiter waiter;
        private volatile Scheduler.@Nullable Timer timer;
        private volatile boolean cancelled;

        Deadline(TurnstileContext client, Waiter waiter) {
            this.client = client;
            this.waiter = waiter;
        }

        void in(long nanos) {
            timer = client.scheduler().schedule(nanos, () -> {
                if (!cancelled && !waiter.timeUp()) {
                    in(Turnstile.LOOK_AGAIN_NANOS);
                }
            });
        }

        void cancel() {
            cancelled = true;
            Scheduler.Timer set = timer;
            if (set != null) {
                set.cancel();
            }
        }
    }
}
