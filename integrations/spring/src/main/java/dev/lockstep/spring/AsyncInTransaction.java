package dev.lockstep.spring;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockTimeoutException;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Asynchronous work of a template that a caller starts in a transaction: the lock is released when the work and the transaction
 * have ended. If the lock is acquired only after the transaction, the work ends the hold alone.
 */
final class AsyncInTransaction<T extends @Nullable Object> {
    private final DistributedLock lock;
    private final Duration waitAtMost;
    private final boolean fenced;
    private final Function<Lease, ? extends CompletionStage<T>> work;
    private final ReleaseAfterTransaction release;
    private final CompletableFuture<T> result = new CompletableFuture<>();

    /** Called by the thread of the transaction. */
    AsyncInTransaction(
            DistributedLock lock,
            Duration waitAtMost,
            boolean fenced,
            Function<Lease, ? extends CompletionStage<T>> work) {
        this.lock = lock;
        this.waitAtMost = waitAtMost;
        this.fenced = fenced;
        this.work = Objects.requireNonNull(work, "work");
        this.release = ReleaseAfterTransaction.register(fenced);
    }

    @SuppressWarnings("FutureReturnValueIgnored") // the caller gets the result
    CompletableFuture<T> start() {
        CompletableFuture<Optional<Lease>> acquiring = lock.tryAcquireAsync(waitAtMost);
        result.whenComplete((done, failure) -> acquiring.cancel(false)); // no effect once it is acquired
        acquiring.whenComplete(this::acquired);
        return result;
    }

    @SuppressWarnings("FutureReturnValueIgnored") // nobody waits for it any more
    private void acquired(@Nullable Optional<Lease> taken, @Nullable Throwable failure) {
        if (failure != null || taken == null) {
            result.completeExceptionally(
                    failure == null ? new IllegalStateException("no answer") : Stages.unwrap(failure));
        } else if (taken.isEmpty()) {
            result.completeExceptionally(new LockTimeoutException(
                    lock.name(), "Lock '" + lock.name() + "' was not free within " + waitAtMost + "."));
        } else if (result.isDone()) {
            taken.get().closeAsync(); // cancelled at the same moment
        } else {
            run(taken.get());
        }
    }

    @SuppressWarnings({"FutureReturnValueIgnored", "NullAway"
    }) // the result ends after it; does not know nullable types
    private void run(Lease lease) {
        release.begin(lease);
        CompletionStage<T> stage;
        try {
            stage = Objects.requireNonNull(work.apply(lease), "the work returned null in place of a stage");
        } catch (Throwable e) {
            stage = CompletableFuture.failedFuture(e);
        }
        stage.whenComplete((value, failure) -> Stages.endInTransaction(lease, fenced, release, result, value, failure));
    }
}
