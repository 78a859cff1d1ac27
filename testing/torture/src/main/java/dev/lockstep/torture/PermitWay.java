package dev.lockstep.torture;

import dev.lockstep.DistributedSemaphore;
import dev.lockstep.Permit;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/** A way to acquire permits. */
enum PermitWay implements Ending {
    ACQUIRE {
        @Override
        Optional<Permit> take(DistributedSemaphore semaphore, int permits, Way.Call call) throws InterruptedException {
            return Optional.of(semaphore.acquire(permits));
        }
    },
    ACQUIRE_INTERRUPTED {
        @Override
        Optional<Permit> take(DistributedSemaphore semaphore, int permits, Way.Call call) throws InterruptedException {
            try (Interrupter interrupter = call.interrupter()) {
                return Optional.of(semaphore.acquire(permits));
            }
        }

        @Override
        public boolean mayEndWith(@Nullable Throwable failure) {
            return failure instanceof InterruptedException;
        }
    },
    TRY_ACQUIRE {
        @Override
        Optional<Permit> take(DistributedSemaphore semaphore, int permits, Way.Call call) throws InterruptedException {
            return permits == 1 ? semaphore.tryAcquire() : semaphore.tryAcquire(permits, Duration.ZERO);
        }
    },
    TRY_ACQUIRE_TIMED {
        @Override
        Optional<Permit> take(DistributedSemaphore semaphore, int permits, Way.Call call) throws InterruptedException {
            return semaphore.tryAcquire(permits, Duration.ofNanos(call.nanos()));
        }
    },
    ASYNC {
        @Override
        Optional<Permit> take(DistributedSemaphore semaphore, int permits, Way.Call call)
                throws InterruptedException, ExecutionException {
            return Optional.of(semaphore.acquireAsync().get());
        }
    },
    ASYNC_CANCELLED {
        @Override
        Optional<Permit> take(DistributedSemaphore semaphore, int permits, Way.Call call)
                throws InterruptedException, ExecutionException {
            CompletableFuture<Permit> future = semaphore.acquireAsync();
            Parking.forNanos(call.nanos() / 4);
            return future.cancel(true) ? Optional.empty() : Optional.of(future.get());
        }

        @Override
        public boolean mayEndWith(@Nullable Throwable failure) {
            return failure instanceof CancellationException;
        }
    };

    /** Whether it can acquire several permits at once. */
    boolean takesMany() {
        return this != ASYNC && this != ASYNC_CANCELLED;
    }

    @Override
    public boolean isTimed() {
        return this == TRY_ACQUIRE || this == TRY_ACQUIRE_TIMED;
    }

    @Override
    public boolean mayEndWith(@Nullable Throwable failure) {
        return false;
    }

    abstract Optional<Permit> take(DistributedSemaphore semaphore, int permits, Way.Call call)
            throws InterruptedException, ExecutionException;
}
