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
 * Methods that return a {@link CompletionStage}: the calling thread waits for the lock, which is held until the stage is done,
 * and in a caller's transaction until that has ended, too. The lease belongs to the call, not to the thread, since another
 * thread may end it.
 */
final class Stages {
    private Stages() {}

    static @Nullable Object run(LockedInterceptor.Call call, boolean inTransaction) throws Throwable {
        Optional<Lease> taken = acquire(call);
        if (taken.isEmpty()) {
            return call.busy();
        }
        Lease lease = taken.get();
        boolean fenced = call.method().isFenced();
        return inTransaction
                ? runInTransaction(call, lease, ReleaseAfterTransaction.register(lease, fenced))
                : run(call, lease, fenced);
    }

    @SuppressWarnings("FutureReturnValueIgnored") // the caller gets the result
    private static @Nullable Object run(LockedInterceptor.Call call, Lease lease, boolean fenced) throws Exception {
        Object returned;
        try {
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
        stage.whenComplete((value, failure) -> closeAndEnd(lease, fenced, result, value, failure));
        return result;
    }

    @SuppressWarnings("FutureReturnValueIgnored") // the caller gets the result
    private static @Nullable Object runInTransaction(
            LockedInterceptor.Call call, Lease lease, ReleaseAfterTransaction release) throws Exception {
        Object returned;
        try {
            returned = call.proceed(lease);
        } catch (Exception | Error e) {
            release.threw();
            throw e;
        }
        if (!(returned instanceof CompletionStage<?> stage)) {
            release.returned(returned);
            return returned;
        }
        CompletableFuture<@Nullable Object> result = new CompletableFuture<>();
        stage.whenComplete(
                (value, failure) -> endInTransaction(lease, call.method().isFenced(), release, result, value, failure));
        return result;
    }

    /**
     * Ends work that began in a caller's transaction. The caller may wait for the result inside of that transaction, so the result
     * does not wait for its end. A loss after that reaches the code that commits.
     */
    static <T extends @Nullable Object> void endInTransaction(
            Lease lease,
            boolean fenced,
            ReleaseAfterTransaction release,
            CompletableFuture<T> result,
            T value,
            @Nullable Throwable failure) {
        boolean transactionReleases = failure == null ? release.returned(value) : release.threw();
        if (transactionReleases) {
            end(result, value, failure != null ? failure : release.knownLoss());
        } else {
            closeAndEnd(lease, fenced, result, value, failure);
        }
    }

    @SuppressWarnings("FutureReturnValueIgnored") // the result ends after it
    private static <T extends @Nullable Object> void closeAndEnd(
            Lease lease, boolean fenced, CompletableFuture<T> result, T value, @Nullable Throwable failure) {
        lease.closeAsync()
                .whenComplete((done, problem) ->
                        end(result, value, failure != null ? failure : problem(problem, fenced, value)));
    }

    private static Optional<Lease> acquire(LockedInterceptor.Call call) throws Throwable {
        CompletableFuture<Optional<Lease>> acquiring = call.lock().tryAcquireAsync(call.waitAtMost());
        try {
            return acquiring.get();
        } catch (InterruptedException e) {
            if (!acquiring.cancel(false) && !acquiring.isCompletedExceptionally()) {
                acquiring.join().ifPresent(lease -> Holding.closeAfter(e, lease)); // granted at the same moment
            }
            throw LockedInterceptor.interrupted(call, e);
        } catch (ExecutionException e) {
            throw e.getCause() == null ? e : e.getCause();
        }
    }

    private static <T extends @Nullable Object> void end(
            CompletableFuture<T> result, T value, @Nullable Throwable failure) {
        if (failure == null) {
            result.complete(value);
        } else if (failure instanceof CancellationException) {
            result.cancel(false);
        } else {
            result.completeExceptionally(unwrap(failure));
        }
    }

    /** The exception for the caller about a release that went wrong; null if nothing did. */
    static @Nullable Throwable problem(@Nullable Throwable failure, boolean fenced, @Nullable Object value) {
        Throwable cause = failure == null ? null : unwrap(failure);
        return cause instanceof RuntimeException problem ? Holding.problem(problem, fenced, value) : cause;
    }

    static Throwable unwrap(Throwable failure) {
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }
}
