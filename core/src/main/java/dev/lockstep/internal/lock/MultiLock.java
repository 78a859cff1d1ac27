package dev.lockstep.internal.lock;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockLostException;
import dev.lockstep.internal.turnstile.TurnstileContext;
import dev.lockstep.spi.Durations;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Several locks as one. They are taken one after the other in the order of their names, which is the same for all
 * callers, so no two wait for each other; they are given back in the opposite order.
 */
public final class MultiLock implements DistributedLock {
    private final TurnstileContext client;
    private final List<TurnstileLock> locks;
    private final String name;

    public MultiLock(TurnstileContext client, List<TurnstileLock> sorted) {
        this.client = client;
        this.locks = List.copyOf(sorted);
        this.name = locks.stream().map(DistributedLock::name).collect(Collectors.joining(","));
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public List<String> names() {
        return locks.stream().map(DistributedLock::name).toList();
    }

    // ---------------------------------------------------------------- taking

    /** How one of the locks is taken; null if it is held by somebody else. */
    @FunctionalInterface
    private interface Step<R, E extends Exception> {
        @Nullable
        R take(DistributedLock lock) throws E;
    }

    /** Takes all in order, or gives back what it took. Null if one was held by somebody else. */
    private <R, E extends Exception> @Nullable List<R> takeAll(Step<R, E> step, Consumer<R> giveBack) throws E {
        List<R> taken = new ArrayList<>(locks.size());
        try {
            for (DistributedLock lock : locks) {
                R one = step.take(lock);
                if (one == null) {
                    break;
                }
                taken.add(one);
            }
            return taken.size() == locks.size() ? taken : null;
        } catch (IllegalStateException e) {
            throw taken.isEmpty() ? e : underWay(e);
        } finally {
            if (taken.size() < locks.size()) {
                undo(taken, giveBack);
            }
        }
    }

    /** A client that is closed while the call is under way is not one that was closed before it. */
    private RuntimeException underWay(RuntimeException failure) {
        return failure instanceof IllegalStateException ? client.failures().closedWhileWaiting(name) : failure;
    }

    private static <R> void undo(List<R> taken, Consumer<R> giveBack) {
        try {
            giveBackAll(taken, giveBack);
        } catch (RuntimeException e) {
            // The caller learns that it has no lock; that a part of it was lost or not confirmed is no news then.
        }
    }

    /**
     * Gives all back in the opposite order; the first failure is thrown at the end, with the others added to it. A loss goes
     * before all else: who works under several locks must hear of it.
     */
    static <R> void giveBackAll(List<? extends R> taken, Consumer<R> giveBack) {
        RuntimeException failure = null;
        for (int i = taken.size() - 1; i >= 0; i--) {
            try {
                giveBack.accept(taken.get(i));
            } catch (RuntimeException e) {
                failure = failure == null ? e : worse(failure, e);
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    /** The one of two failures that counts, with the other added to it. */
    private static RuntimeException worse(RuntimeException first, RuntimeException second) {
        boolean later = second instanceof LockLostException && !(first instanceof LockLostException);
        RuntimeException worse = later ? second : first;
        worse.addSuppressed(later ? first : second);
        return worse;
    }

    @Override
    public void lock() {
        takeAll(
                lock -> {
                    lock.lock();
                    return lock;
                },
                DistributedLock::unlock);
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        takeAll(
                lock -> {
                    lock.lockInterruptibly();
                    return lock;
                },
                DistributedLock::unlock);
    }

    @Override
    public boolean tryLock() {
        return takeAll(lock -> lock.tryLock() ? lock : null, DistributedLock::unlock) != null;
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
        Supplier<Duration> left = spending(Duration.ofNanos(unit.toNanos(time)));
        Step<DistributedLock, InterruptedException> step =
                lock -> lock.tryLock(left.get().toNanos(), TimeUnit.NANOSECONDS) ? lock : null;
        return takeAll(step, DistributedLock::unlock) != null;
    }

    @Override
    public Lease acquire() throws InterruptedException {
        return all(takeAll(DistributedLock::acquire, Lease::close));
    }

    @Override
    public Lease acquireUninterruptibly() {
        return all(takeAll(DistributedLock::acquireUninterruptibly, Lease::close));
    }

    private Lease all(@Nullable List<Lease> leases) {
        if (leases == null) {
            throw new IllegalStateException("an unbounded wait ends with a hold or an exception");
        }
        return new MultiLease(name, leases);
    }

    @Override
    public Optional<Lease> tryAcquire() {
        return together(takeAll(lock -> lock.tryAcquire().orElse(null), Lease::close));
    }

    @Override
    public Optional<Lease> tryAcquire(Duration wait) throws InterruptedException {
        Supplier<Duration> left = spending(wait);
        Step<Lease, InterruptedException> step =
                lock -> lock.tryAcquire(left.get()).orElse(null);
        return together(takeAll(step, Lease::close));
    }

    private Optional<Lease> together(@Nullable List<Lease> leases) {
        return Optional.ofNullable(leases).map(all -> new MultiLease(name, all));
    }

    /** What is left of a wait, which is spent once from now on. One without end stays so. */
    private Supplier<Duration> spending(Duration wait) {
        long start = client.monotonicNanos();
        long nanos = Durations.waitNanos(wait);
        return nanos == Durations.LONGEST_LIMIT.toNanos()
                ? () -> Durations.LONGEST_LIMIT
                : () -> Duration.ofNanos(nanos - (client.monotonicNanos() - start));
    }

    // ---------------------------------------------------------------- taking without a thread

    @Override
    public CompletableFuture<Lease> acquireAsync() {
        return new AsyncTake<>(
                        DistributedLock::acquireAsync, Optional::of, leases -> (Lease) new MultiLease(name, leases))
                .start();
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration wait) {
        Supplier<Duration> left = spending(wait);
        return new AsyncTake<>(
                        lock -> lock.tryAcquireAsync(left.get()),
                        Function.identity(),
                        leases -> together(leases.isEmpty() ? null : leases))
                .start();
    }

    /**
     * Takes one lock after the other without a thread; a cancelled result cancels the step under way.
     *
     * @param <S> what a step answers
     * @param <T> what the caller gets
     */
    private final class AsyncTake<S, T> {
        private final Function<DistributedLock, CompletableFuture<S>> step;
        private final Function<S, Optional<Lease>> lease;
        private final Function<List<Lease>, T> finish;
        private final CompletableFuture<T> result = new CompletableFuture<>();

        /** Only touched by one step at a time. */
        private final List<Lease> taken = new ArrayList<>();

        private volatile @Nullable CompletableFuture<S> current;

        AsyncTake(
                Function<DistributedLock, CompletableFuture<S>> step,
                Function<S, Optional<Lease>> lease,
                Function<List<Lease>, T> finish) {
            this.step = step;
            this.lease = lease;
            this.finish = finish;
        }

        CompletableFuture<T> start() {
            client.ensureOpen(); // told at once, as by every other call
            next();
            result.whenComplete((done, error) -> cancelCurrent());
            return result;
        }

        private void next() {
            if (taken.size() == locks.size()) {
                if (!result.complete(finish.apply(List.copyOf(taken)))) {
                    closeAll();
                }
                return;
            }
            CompletableFuture<S> stage;
            try {
                stage = step.apply(locks.get(taken.size()));
            } catch (RuntimeException e) {
                closeAll().whenComplete((closed, failure) -> result.completeExceptionally(underWay(e)));
                return;
            }
            current = stage;
            if (result.isDone()) {
                stage.cancel(false);
            }
            stage.whenComplete(this::stepped);
        }

        private void stepped(S answer, @Nullable Throwable error) {
            Optional<Lease> one = error == null ? lease.apply(answer) : Optional.empty();
            one.ifPresent(taken::add);
            if (one.isPresent() && !result.isDone()) {
                next();
                return;
            }
            closeAll().whenComplete((closed, failure) -> {
                if (error != null) {
                    result.completeExceptionally(error);
                } else {
                    result.complete(finish.apply(List.of()));
                }
            });
        }

        private void cancelCurrent() {
            CompletableFuture<?> stage = current;
            if (stage != null) {
                stage.cancel(false);
            }
        }

        /** Releases what was taken. Done when the engine has confirmed it, or the request timeout has passed. */
        private CompletableFuture<Void> closeAll() {
            List<CompletableFuture<Void>> closing = new ArrayList<>();
            undo(taken, lease -> closing.add(lease.closeAsync()));
            taken.clear();
            return CompletableFuture.allOf(closing.toArray(CompletableFuture[]::new));
        }
    }

    // ---------------------------------------------------------------- giving back and asking

    @Override
    public void unlock() {
        for (TurnstileLock lock : locks) {
            if (!lock.canUnlock()) {
                throw new IllegalMonitorStateException("Locks '" + name + "' are not all held by this thread.");
            }
        }
        giveBackAll(locks, DistributedLock::unlock);
    }

    @Override
    public Optional<Lease> currentLease() {
        List<Lease> leases = new ArrayList<>();
        for (TurnstileLock lock : locks) {
            lock.currentLease().ifPresent(leases::add);
        }
        return leases.size() < locks.size()
                ? Optional.empty()
                : Optional.of(new ShownLease(new MultiLease(name, leases)));
    }

    @Override
    public boolean isHeldByCurrentThread() {
        return locks.stream().allMatch(DistributedLock::isHeldByCurrentThread);
    }

    @Override
    public int holdCount() {
        return locks.stream().mapToInt(DistributedLock::holdCount).min().orElse(0);
    }

    @Override
    public String toString() {
        return "DistributedLock[" + name + "]";
    }
}
