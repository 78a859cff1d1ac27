package dev.lockstep.tck;

import dev.lockstep.DistributedLock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** The ways to take a lock. Rules for several of them are tested with each. */
enum Way {
    LOCK {
        @Override
        Optional<Hold> take(DistributedLock lock, Duration wait) {
            lock.lock();
            return Optional.of(lock::unlock);
        }
    },
    LOCK_INTERRUPTIBLY {
        @Override
        Optional<Hold> take(DistributedLock lock, Duration wait) throws InterruptedException {
            lock.lockInterruptibly();
            return Optional.of(lock::unlock);
        }
    },
    TRY_LOCK {
        @Override
        Optional<Hold> take(DistributedLock lock, Duration wait) {
            return lock.tryLock() ? Optional.of(lock::unlock) : Optional.empty();
        }
    },
    TRY_LOCK_TIMED {
        @Override
        Optional<Hold> take(DistributedLock lock, Duration wait) throws InterruptedException {
            return lock.tryLock(wait.toNanos(), TimeUnit.NANOSECONDS) ? Optional.of(lock::unlock) : Optional.empty();
        }
    },
    TRY_LOCK_DURATION {
        @Override
        Optional<Hold> take(DistributedLock lock, Duration wait) throws InterruptedException {
            return lock.tryLock(wait) ? Optional.of(lock::unlock) : Optional.empty();
        }
    },
    ACQUIRE {
        @Override
        Optional<Hold> take(DistributedLock lock, Duration wait) throws InterruptedException {
            return Optional.of(lock.acquire()::close);
        }
    },
    ACQUIRE_UNINTERRUPTIBLY {
        @Override
        Optional<Hold> take(DistributedLock lock, Duration wait) {
            return Optional.of(lock.acquireUninterruptibly()::close);
        }
    },
    TRY_ACQUIRE {
        @Override
        Optional<Hold> take(DistributedLock lock, Duration wait) {
            return lock.tryAcquire().map(lease -> lease::close);
        }
    },
    TRY_ACQUIRE_TIMED {
        @Override
        Optional<Hold> take(DistributedLock lock, Duration wait) throws InterruptedException {
            return lock.tryAcquire(wait).map(lease -> lease::close);
        }
    },
    ACQUIRE_ASYNC {
        @Override
        Optional<Hold> take(DistributedLock lock, Duration wait) {
            return Optional.of(joined(lock.acquireAsync()::join)::close);
        }
    },
    TRY_ACQUIRE_ASYNC {
        @Override
        Optional<Hold> take(DistributedLock lock, Duration wait) {
            return joined(lock.tryAcquireAsync(wait)::join).map(lease -> lease::close);
        }
    };

    /** The lock that was taken. */
    @FunctionalInterface
    interface Hold {
        void release();
    }

    static List<Way> all() {
        return List.of(values());
    }

    /** The ways in which the calling thread is the owner, or waits. */
    static List<Way> ofAThread() {
        return all().stream()
                .filter(way -> way != ACQUIRE_ASYNC && way != TRY_ACQUIRE_ASYNC)
                .toList();
    }

    /**
     * Takes a lock.
     *
     * @param lock the lock
     * @param wait how long to wait, for the ways that have a time
     * @return the hold, or empty if the lock was busy
     */
    abstract Optional<Hold> take(DistributedLock lock, Duration wait) throws InterruptedException;

    /** Throws what a future failed with itself, as the synchronous ways do. */
    private static <T> T joined(Supplier<T> join) {
        try {
            return join.get();
        } catch (CompletionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw e;
        }
    }
}
