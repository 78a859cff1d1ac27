package dev.lockstep.micrometer;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockCallback;
import dev.lockstep.LockTemplate;
import io.micrometer.observation.Observation;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A template whose calls are observed. Immutable, safe for use by many threads. */
record ObservedTemplate(LockObservations observations, LockTemplate template) implements LockTemplate {
    @Override
    public <T extends @Nullable Object, E extends Exception> T execute(String name, LockCallback<T, E> work)
            throws E, InterruptedException {
        LockObservation observed = observations.start(List.of(name), null);
        try (Observation.Scope scope = observed.openScope()) {
            return template.execute(name, work);
        } catch (Throwable e) {
            observed.failed(e);
            throw e;
        } finally {
            observed.ended();
        }
    }

    @Override
    public <T extends @Nullable Object, E extends Exception> T execute(DistributedLock lock, LockCallback<T, E> work)
            throws E, InterruptedException {
        LockObservation observed = observations.start(lock.names(), null);
        try (Observation.Scope scope = observed.openScope()) {
            return template.execute(lock, work);
        } catch (Throwable e) {
            observed.failed(e);
            throw e;
        } finally {
            observed.ended();
        }
    }

    @Override
    public <T extends @Nullable Object> CompletableFuture<T> executeAsync(
            String name, Function<Lease, ? extends CompletionStage<T>> work) {
        LockObservation observed = observations.start(List.of(name), null);
        return async(observed, inside -> template.executeAsync(name, inside), work);
    }

    @Override
    public <T extends @Nullable Object> CompletableFuture<T> executeAsync(
            DistributedLock lock, Function<Lease, ? extends CompletionStage<T>> work) {
        LockObservation observed = observations.start(lock.names(), null);
        return async(observed, inside -> template.executeAsync(lock, inside), work);
    }

    private static <T extends @Nullable Object> CompletableFuture<T> async(
            LockObservation observed,
            Function<Function<Lease, CompletionStage<T>>, CompletableFuture<T>> call,
            Function<Lease, ? extends CompletionStage<T>> work) {
        CompletableFuture<T> future;
        try (Observation.Scope scope = observed.openScope()) {
            future = call.apply(lease -> {
                try (Observation.Scope inside = observed.openScope()) {
                    return work.apply(lease);
                }
            });
        } catch (RuntimeException | Error e) {
            observed.failed(e);
            observed.ended();
            throw e;
        }
        future.whenComplete((value, failure) -> {
            if (failure != null) {
                Throwable cause = failure instanceof CompletionException ? failure.getCause() : null;
                observed.failed(cause == null ? failure : cause);
            }
            observed.ended();
        });
        return future;
    }

    @Override
    public LockTemplate waitAtMost(Duration wait) {
        return new ObservedTemplate(observations, template.waitAtMost(wait));
    }

    @Override
    public LockTemplate fenced() {
        return new ObservedTemplate(observations, template.fenced());
    }
}
