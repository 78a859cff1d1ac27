package dev.lockstep.spring;

import dev.lockstep.Lease;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * Methods that return a {@link CompletionStage}: the calling thread waits for the lock, which is held until the stage is done.
 * The lease belongs to the call, not to the thread, since another thread will end it.
 */
final class Stages {
    private Stages() {}

    @SuppressWarnings("FutureReturnValueIgnored") // the caller gets it, or it has been dealt with
    static @Nullable Object run(LockedInterceptor.Call call, boolean inTransaction) throws Throwable {
        Optional<Lease> taken = acquire(call);
        if (taken.isEmpty()) {
            return call.busy();
        }
        Lease lease = taken.get();
        boolean fenced = call.method().isFenced();
        CompletableFuture<?> transaction;
        Object returned;
        try {
            transaction = inTransaction ? TransactionEnd.of(lease, fenced) : CompletableFuture.completedFuture(null);
            returned = call.proceed(lease);
        } catch (Exception | Error e) {
            Holding.closeAfter(e, lease);
            throw e;
        }
        if (!(returned instanceof CompletionStage<?> stage)) {
            Holding.close(lease, fenced, returned);
            return returned;
        }
        CompletableFuture<@Nullable Object> result = new CompletableFuture<>();
        stage.whenComplete((value, failure) -> {
            if (inTransaction) {
                end(result, value, failure);
                transaction.whenComplete((done, unused) -> lease.closeAsync());
            } else {
                lease.closeAsync()
                        .whenComplete((done, problem) ->
                                end(result, value, failure != null ? failure : problem(problem, fenced, value)));
            }
        });
        return result;
    }

    private static Optional<Lease> acquire(LockedInterceptor.Call call) throws Throwable {
        CompletableFuture<Optional<Lease>> acquiring = call.lock().tryAcquireAsync(call.waitAtMost());
        try {
            return acquiring.get();
        } catch (InterruptedException e) {
            acquiring.cancel(false);
            throw LockedInterceptor.interrupted(call, e);
        } catch (ExecutionException e) {
            throw e.getCause() == null ? e : e.getCause();
        }
    }

    private static void end(
            CompletableFuture<@Nullable Object> result, @Nullable Object value, @Nullable Throwable failure) {
        if (failure == null) {
            result.complete(value);
        } else if (failure instanceof CancellationException) {
            result.cancel(false);
        } else {
            result.completeExceptionally(unwrap(failure));
        }
    }

    /** What the caller hears of a release that went wrong; null if nothing did. */
    static @Nullable Throwable problem(@Nullable Throwable failure, boolean fenced, @Nullable Object value) {
        Throwable cause = failure == null ? null : unwrap(failure);
        return cause instanceof RuntimeException problem ? Holding.problem(problem, fenced, value) : cause;
    }

    private static Throwable unwrap(Throwable failure) {
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }
}
