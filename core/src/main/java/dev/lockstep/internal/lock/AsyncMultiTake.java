package dev.lockstep.internal.lock;

import dev.lockstep.LockObserver;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.internal.concurrent.CallerContext;
import dev.lockstep.internal.turnstile.Hold;
import dev.lockstep.internal.turnstile.Releases;
import dev.lockstep.internal.turnstile.Result;
import dev.lockstep.internal.turnstile.TurnstileContext;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One asynchronous call that takes several locks, in their order and in the way of {@link MultiTake}. One step follows the
 * other, on any thread and with the logging context of the caller; a cancelled result cancels the step under way.
 *
 * @param <T> what the caller gets
 */
final class AsyncMultiTake<T> {
    private static final Runnable NOTHING = () -> {};

    private final TurnstileContext client;
    private final List<TurnstileLock> locks;
    private final String name;
    private final MultiWait wait;
    private final Function<Optional<List<HoldLease>>, T> convert;
    private final @Nullable Throwable place;
    private final BatchSize batchSize;
    private final CompletableFuture<T> result = new CompletableFuture<>();

    /**
     * How many steps are due. The thread that makes it positive does them all, so that a step that ends at once does
     * not nest.
     */
    private final AtomicInteger due = new AtomicInteger();

    // Only touched by one step at a time.
    private final List<HoldLease> taken = new ArrayList<>();
    private boolean nextAlone;

    /** The call of the first lock: those of the others belong to it. Null if nobody observes. */
    private @Nullable Observation firstObserved;

    /** The call of the next lock, if it has begun already. */
    private @Nullable Observation nextObserved;

    private volatile Runnable cancelStep = NOTHING;

    /**
     * Makes a call.
     *
     * @param convert makes the caller's result of the leases; of nothing if another caller holds a lock
     */
    AsyncMultiTake(
            TurnstileContext client, MultiLock lock, long waitNanos, Function<Optional<List<HoldLease>>, T> convert) {
        this.client = client;
        this.locks = lock.locks();
        this.name = lock.name();
        this.wait = new MultiWait(client, waitNanos);
        this.convert = convert;
        this.place = locks.get(0).place();
        this.batchSize = new BatchSize(client);
    }

    CompletableFuture<T> start() {
        client.ensureOpen(); // a closed client throws at once, as in every other call
        proceed();
        result.whenComplete((done, error) -> cancelStep.run());
        return result;
    }

    /** A step has ended: the next is due. */
    private void proceed() {
        if (due.getAndIncrement() == 0) {
            do {
                step();
            } while (due.decrementAndGet() > 0);
        }
    }

    private void step() {
        if (taken.size() == locks.size()) {
            if (!result.complete(convert.apply(Optional.of(List.copyOf(taken))))) {
                undo();
            }
        } else if (result.isDone()) {
            Observation observed = nextObserved;
            if (observed != null) {
                observed.ended(LockObserver.CallOutcome.CANCELLED, null);
            }
            undo();
        } else {
            takeNext();
        }
    }

    private void takeNext() {
        int from = taken.size();
        TurnstileLock next = locks.get(from);
        Observation observed = nextObserved != null ? nextObserved : observe(next);
        nextObserved = null;
        int size = nextAlone ? 1 : batchSize.next(locks.size() - from);
        nextAlone = false;
        if (size > 1) {
            AsyncBatch batch = new AsyncBatch(client, locks.subList(from, from + size));
            if (batch.size() > 0) {
                takeTogether(batch, observed);
                return;
            }
        }
        takeAlone(next, observed);
    }

    private @Nullable Observation observe(TurnstileLock next) {
        Observation first = firstObserved;
        if (first != null) {
            return first.next(next, wait.observedNanos());
        }
        firstObserved = Observation.startFirst(client.events().observers(), next, wait.observedNanos(), true);
        return firstObserved;
    }

    // ---------------------------------------------------------------- one

    private void takeAlone(TurnstileLock next, @Nullable Observation observed) {
        CompletableFuture<Optional<HoldLease>> stage;
        try {
            stage = next.takeAsync(wait.leftNanos(), observed, place);
        } catch (RuntimeException e) {
            // A client that is closed while the call is under way is not one that was closed before it.
            fail(e instanceof IllegalStateException ? client.failures().closedWhileWaiting(name) : e);
            return;
        }
        cancelBy(() -> stage.cancel(false));
        stage.whenComplete((lease, error) -> {
            if (error != null) {
                fail(error);
            } else if (lease.isPresent()) {
                taken.add(lease.get());
                proceed();
            } else {
                undo().whenComplete((done, failure) -> result.complete(convert.apply(Optional.empty())));
            }
        });
    }

    /** Says how the step under way is cancelled, now or later. */
    private void cancelBy(Runnable cancel) {
        cancelStep = cancel;
        if (result.isDone()) {
            cancel.run();
        }
    }

    // ---------------------------------------------------------------- several

    private void takeTogether(AsyncBatch batch, @Nullable Observation observed) {
        long start = client.monotonicNanos();
        cancelStep = batch::giveUp; // first, since the answers may begin another step on another thread
        batch.submit(results -> tookTogether(results, observed, start));
        if (result.isDone()) {
            batch.giveUp();
        }
    }

    private void tookTogether(List<Result> results, @Nullable Observation observed, long start) {
        int kept = result.isDone() ? 0 : prefix(results);
        for (int i = 0; i < kept; i++) {
            TurnstileLock lock = locks.get(taken.size());
            Hold hold = ((Result.Held) results.get(i)).hold();
            Observation call = i == 0 ? observed : observe(lock);
            if (call != null) {
                call.acquired(hold);
            }
            taken.add(lock.asyncLease(hold, place));
        }
        nextAlone = kept < results.size();
        batchSize.answered(results.size(), kept);
        Throwable failure = nextAlone && results.get(kept) instanceof Result.Failed failed && wait.isOver(start)
                ? failed.exception().get()
                : null;
        if (kept == 0 && observed != null && failure != null) {
            observed.failed(failure);
        } else if (kept == 0) {
            nextObserved = observed; // it continues when the lock is taken alone
        }
        CompletableFuture<Void> released = release(results.subList(kept, results.size()));
        if (failure != null) {
            fail(CompletableFuture.allOf(released, undo()), failure);
        } else {
            cancelBy(() -> released.complete(null)); // what was taken need not wait for that
            released.whenComplete((done, error) -> proceed());
        }
    }

    private static int prefix(List<Result> results) {
        int granted = 0;
        while (granted < results.size() && results.get(granted) instanceof Result.Held) {
            granted++;
        }
        return granted;
    }

    private CompletableFuture<Void> release(List<Result> rest) {
        List<Hold> unwanted = new ArrayList<>();
        for (Result one : rest) {
            if (one instanceof Result.Held held) {
                unwanted.add(held.hold());
            }
        }
        return CallerContext.carry(CompletableFuture.allOf(
                Releases.releaseAllAsync(unwanted, Releases.Part.ALL, client).toArray(CompletableFuture[]::new)));
    }

    // ---------------------------------------------------------------- ending

    private void fail(Throwable error) {
        fail(undo(), error);
    }

    /** Fails when what it took is released; at once if the engine is silent, since the call has waited for it already. */
    private void fail(CompletableFuture<Void> undone, Throwable error) {
        if (error instanceof LockUnavailableException && client.patienceLeftNanos() == 0) {
            result.completeExceptionally(error);
        } else {
            undone.whenComplete((done, failure) -> result.completeExceptionally(error));
        }
    }

    /** Releases what was taken. Done when the engine has confirmed it, or the request timeout has passed. */
    private CompletableFuture<Void> undo() {
        List<HoldLease> closing = List.copyOf(taken);
        taken.clear();
        return CallerContext.carry(MultiLease.undo(closing, client));
    }
}
