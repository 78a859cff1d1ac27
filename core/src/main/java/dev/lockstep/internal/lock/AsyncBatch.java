package dev.lockstep.internal.lock;

import dev.lockstep.internal.concurrent.CallerContext;
import dev.lockstep.internal.turnstile.ClaimBatch;
import dev.lockstep.internal.turnstile.Releases;
import dev.lockstep.internal.turnstile.Result;
import dev.lockstep.internal.turnstile.Turnstile;
import dev.lockstep.internal.turnstile.TurnstileContext;
import dev.lockstep.internal.turnstile.Waiter;
import dev.lockstep.spi.Scheduler;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Several locks that an asynchronous call claims together, until each has its result. Safe for use by many threads. */
final class AsyncBatch {
    private final TurnstileContext client;
    private final ClaimBatch batch;
    private final AtomicReferenceArray<@Nullable Result> results;

    /** How many results are missing, and one more until all claims were submitted. */
    private final AtomicInteger missing;

    /** Receives the results, once; null from then on. */
    private final AtomicReference<@Nullable Consumer<List<Result>>> callback = new AtomicReference<>();

    /** Whether the call was cancelled: what is granted from now on is released. */
    private volatile boolean abandoned;

    private volatile Scheduler.@Nullable Timer timer;

    /**
     * Adds the locks at the front that nobody here uses. If a lock cannot be added, the reason is reported when it is
     * taken alone.
     */
    AsyncBatch(TurnstileContext client, List<TurnstileLock> next) {
        this.client = client;
        this.batch = new ClaimBatch(client);
        this.results = new AtomicReferenceArray<>(next.size());
        this.missing = new AtomicInteger(next.size() + 1); // a client that is closed answers before all are added
        int added = 0;
        try {
            while (added < next.size() && next.get(added).joins(batch, new Answer(this, added))) {
                added++;
            }
        } catch (RuntimeException e) {
            // Closed, most likely.
        }
        missing.addAndGet(added - next.size());
    }

    int size() {
        return batch.waiters().size();
    }

    /**
     * Asks the engine.
     *
     * @param whenKnown receives all results, in the order of the locks
     */
    void submit(Consumer<List<Result>> whenKnown) {
        callback.set(CallerContext.carry(whenKnown));
        client.watchOutage(client.nanoTime());
        batch.submit();
        if (missing.get() > 1) {
            endIn(client.requestTimeoutNanos());
        }
        countDown();
    }

    private void endIn(long nanos) {
        timer = client.scheduler().schedule(nanos, this::timeUp);
    }

    private void timeUp() {
        boolean over = true;
        for (Waiter waiter : batch.waiters()) {
            over &= waiter.timeUp();
        }
        if (!over) {
            endIn(Turnstile.LOOK_AGAIN_NANOS);
        }
    }

    /** The call was cancelled, and does not wait for results that are missing. Does nothing once all are known. */
    void giveUp() {
        Consumer<List<Result>> waiting = callback.getAndSet(null);
        if (waiting == null) {
            return;
        }
        abandoned = true;
        batch.waiters().forEach(Waiter::giveUp);
        end(waiting, index -> taken(index, Result.GAVE_UP));
    }

    private Result taken(int index, Result instead) {
        Result known = results.getAndSet(index, instead);
        return known == null ? instead : known;
    }

    private void heard(int index, Result result) {
        results.set(index, result);
        if (abandoned && taken(index, Result.GAVE_UP) instanceof Result.Held held) {
            Releases.drop(held.hold());
        }
        countDown();
    }

    private void countDown() {
        if (missing.decrementAndGet() > 0) {
            return;
        }
        Consumer<List<Result>> waiting = callback.getAndSet(null);
        if (waiting != null) {
            end(waiting, results::get);
        }
    }

    private void end(Consumer<List<Result>> waiting, IntFunction<Result> result) {
        Scheduler.Timer set = timer;
        if (set != null) {
            set.cancel();
        }
        waiting.accept(IntStream.range(0, size()).mapToObj(result).toList());
    }

    /** The call of one lock. */
    private static final class Answer implements Consumer<Result> {
        /** Null once it has its result: the claim may keep this call for as long as the lock is held, but not the leases. */
        private volatile @Nullable AsyncBatch batch;

        private final int index;

        Answer(AsyncBatch batch, int index) {
            this.batch = batch;
            this.index = index;
        }

        @Override
        public void accept(Result result) {
            AsyncBatch waiting = batch;
            batch = null;
            if (waiting != null) {
                waiting.heard(index, result);
            }
        }
    }
}
