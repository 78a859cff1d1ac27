package dev.lockstep.torture;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A way to take a lock. */
enum Way implements Ending {
    LOCK {
        @Override
        Optional<Taken> take(DistributedLock lock, Call call) throws InterruptedException {
            lock.lock();
            return Taken.again(lock);
        }
    },
    LOCK_INTERRUPTED {
        @Override
        Optional<Taken> take(DistributedLock lock, Call call) throws InterruptedException {
            try (Interrupter interrupter = call.interrupter()) {
                lock.lockInterruptibly();
            }
            return Taken.again(lock);
        }

        @Override
        public boolean mayEndWith(@Nullable Throwable failure) {
            return failure instanceof InterruptedException;
        }
    },
    TRY_LOCK {
        @Override
        Optional<Taken> take(DistributedLock lock, Call call) throws InterruptedException {
            return lock.tryLock() ? Taken.again(lock) : Optional.empty();
        }
    },
    TRY_LOCK_TIMED {
        @Override
        Optional<Taken> take(DistributedLock lock, Call call) throws InterruptedException {
            return lock.tryLock(call.nanos(), TimeUnit.NANOSECONDS) ? Taken.again(lock) : Optional.empty();
        }
    },
    ACQUIRE {
        @Override
        Optional<Taken> take(DistributedLock lock, Call call) throws InterruptedException {
            return Optional.of(Taken.by(lock.acquire()));
        }
    },
    TRY_ACQUIRE_TIMED {
        @Override
        Optional<Taken> take(DistributedLock lock, Call call) throws InterruptedException {
            return Taken.by(lock.tryAcquire(Duration.ofNanos(call.nanos())));
        }
    },
    ASYNC {
        @Override
        Optional<Taken> take(DistributedLock lock, Call call) throws InterruptedException, ExecutionException {
            CompletableFuture<Lease> future = lock.acquireAsync();
            call.seesItself(future);
            return Optional.of(Taken.by(future.get()));
        }
    },
    ASYNC_TIMED {
        @Override
        Optional<Taken> take(DistributedLock lock, Call call) throws InterruptedException, ExecutionException {
            return Taken.by(lock.tryAcquireAsync(Duration.ofNanos(call.nanos())).get());
        }
    },
    ASYNC_CANCELLED {
        @Override
        Optional<Taken> take(DistributedLock lock, Call call) throws InterruptedException, ExecutionException {
            CompletableFuture<Lease> future = lock.acquireAsync();
            Parking.forNanos(call.nanos() / 4);
            return future.cancel(true) ? Optional.empty() : Optional.of(Taken.by(future.get()));
        }

        @Override
        public boolean mayEndWith(@Nullable Throwable failure) {
            return failure instanceof CancellationException;
        }
    };

    /** The tools that a way needs beside the lock. For one thread. */
    static final class Call {
        private final Random random;
        private final ScheduledExecutorService timer;
        private final long longestNanos;
        private final WhileWaiting whileWaiting;
        private long drawn;

        Call(Random random, ScheduledExecutorService timer, long longestNanos, WhileWaiting whileWaiting) {
            this.random = random;
            this.timer = timer;
            this.longestNanos = longestNanos;
            this.whileWaiting = whileWaiting;
        }

        /** A time: mostly short, sometimes the longest. */
        long nanos() {
            drawn = (long) (longestNanos * Math.pow(random.nextDouble(), 3)) + 1;
            return drawn;
        }

        /** Interrupts the calling thread after a time, until what this returns is closed. */
        Interrupter interrupter() {
            return new Interrupter(timer, nanos());
        }

        /** The time that was drawn last; 0 if none was. */
        long drawn() {
            return drawn;
        }

        private void seesItself(CompletableFuture<Lease> future) {
            whileWaiting.look(future);
        }
    }

    /** The action while a call waits. */
    interface WhileWaiting {
        void look(CompletableFuture<Lease> future);
    }

    @Override
    public boolean isTimed() {
        return this == TRY_LOCK || this == TRY_LOCK_TIMED || this == TRY_ACQUIRE_TIMED || this == ASYNC_TIMED;
    }

    @Override
    public boolean mayEndWith(@Nullable Throwable failure) {
        return false;
    }

    abstract Optional<Taken> take(DistributedLock lock, Call call) throws InterruptedException, ExecutionException;
}
