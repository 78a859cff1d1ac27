package dev.lockstep.internal.lock;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockTimeoutException;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Acquires a lock, runs asynchronous work, releases the lock: a template's call without a thread. */
final class AsyncExecution<T extends @Nullable Object> {
    private final Template template;
    private final DistributedLock lock;
    private final Function<Lease, ? extends CompletionStage<T>> work;
    private final CompletableFuture<T> result = new CompletableFuture<>();

    AsyncExecution(Template template, DistributedLock lock, Function<Lease, ? extends CompletionStage<T>> work) {
        this.template = template;
        this.lock = Objects.requireNonNull(lock, "lock");
        this.work = Objects.requireNonNull(work, "work");
    }

    CompletableFuture<T> start() {
        CompletableFuture<Optional<Lease>> taking = lock.tryAcquireAsync(template.waitAtMost());
        result.whenComplete((done, failure) -> taking.cancel(false)); // no effect once it is taken
        taking.whenComplete(this::taken);
        return result;
    }

    /** On the client's executor. */
    private void taken(@Nullable Optional<Lease> taken, @Nullable Throwable failure) {
        if (failure != null || taken == null) {
            result.completeExceptionally(failure == null ? new IllegalStateException("no answer") : cause(failure));
        } else if (taken.isEmpty()) {
            result.completeExceptionally(new LockTimeoutException(
                    lock.name(), "Lock '" + lock.name() + "' was not free within " + template.waitAtMost() + "."));
        } else if (result.isDone()) {
            taken.get().closeAsync(); // cancelled at the same moment
        } else {
            run(taken.get());
        }
    }

    private void run(Lease lease) {
        CompletionStage<T> stage;
        try {
            stage = Objects.requireNonNull(work.apply(lease), "the work returned null in place of a stage");
        } catch (Throwable e) {
            stage = CompletableFuture.failedFuture(e);
        }
        stage.whenComplete(
                (value, failure) -> lease.closeAsync().whenComplete((closed, release) -> end(value, failure, release)));
    }

    /** The failure of the work comes first; a result is never lost. */
    private void end(T value, @Nullable Throwable failure, @Nullable Throwable release) {
        if (failure != null) {
            Throwable thrown = Template.withoutResult(cause(failure));
            if (release != null) {
                thrown.addSuppressed(cause(release));
            }
            result.completeExceptionally(thrown);
            return;
        }
        Throwable loss = release == null ? null : template.afterWork(cause(release), value);
        if (loss == null) {
            result.complete(value);
        } else {
            result.completeExceptionally(loss);
        }
    }

    private static Throwable cause(Throwable thrown) {
        return thrown instanceof CompletionException && thrown.getCause() != null ? thrown.getCause() : thrown;
    }
}
