package dev.lockstep.spi;

import dev.lockstep.LossReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Renews items that would otherwise expire, in batches, with one timer for all. Shared by the backends: a backend whose
 * grants have their own expiry registers each of them; a backend with sessions registers only the session.
 *
 * <p>Every third of the ttl, fixed delay, all registered items are renewed. One that would be near its deadline by then
 * is renewed 10 to 20 ms after it is registered ({@link DelayedCheck}), if it still is, and at once if it has less than
 * a second; all are renewed when the {@linkplain Scheduler#afterJumps clock has jumped}. A batch that fails is tried
 * again with the client's backoff until it succeeds; the core declares an item lost whose deadline passes meanwhile.
 * Items that the engine reports as gone are signalled as lost and forgotten.
 *
 * <p>Safe for use by many threads. No thread of its own, and no timer once a tick has found nothing registered.
 *
 * @param <R> what is renewed; compared by {@code equals}
 */
public final class Renewer<R extends Renewable> implements AutoCloseable {
    /*
     * Overview. Each registered item maps to what is being done about it: RESTING until the next tick, or the batch
     * that carries it, from its first try to its success. Only the batch that an item maps to may change the item or
     * its mapping, and does so by compare-and-set; so a reply that comes after the item was unregistered, or registered
     * again, finds another mapping and changes nothing.
     *
     * The tick takes resting items only. While the engine is unreachable, all items are in batches that retry, so that
     * ticks do not pile up; and since each tick schedules the next, a process that was paused makes one tick, not all
     * that it missed.
     *
     * An unregister leaves the timer alone: otherwise each acquire and release of a lock would cost two timer
     * operations. The next tick finds nothing and does not schedule another. `ticking` is cleared before the tick looks
     * for the last time, and set after an item was put, so one of the two sees the other.
     */
    private static final Object RESTING = new Object();

    /** An item with less time than this is renewed at once. */
    private static final long LITTLE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Scheduler scheduler;
    private final Duration ttl;
    private final long periodNanos;
    private final long requestTimeoutNanos;
    private final Backoff backoff;
    private final int batchSize;
    private final LossReason goneReason;
    private final Action<R> action;
    private final RequestObserver requests;
    private final DelayedCheck<R> soon;
    private final Map<R, Object> items = new ConcurrentHashMap<>();
    private final Scheduler.Timer jumps;

    private volatile boolean ticking;
    private volatile boolean closed;
    private volatile long nextTickNanos;
    private Scheduler.@Nullable Timer timer; // guarded by this

    /** Does the I/O of a renewal. */
    @FunctionalInterface
    public interface Action<R> {
        /**
         * Renews a batch, without blocking.
         *
         * @param batch what to renew, at most the batch size
         * @return those of the batch that the engine no longer knows; exceptional if the engine did not answer, at the
         *     latest after {@link BackendContext#renewalTimeout}
         */
        CompletionStage<? extends Collection<? extends R>> renew(List<R> batch);
    }

    /**
     * The validity that a request sent at a time gives: the ttl less a margin for clock drift, of 1 % and 2 ms.
     *
     * @param sentNanos when the request was sent
     * @param ttl the ttl on the server
     * @return until when what was renewed is valid
     */
    public static long deadline(long sentNanos, Duration ttl) {
        long nanos = ttl.toNanos();
        return sentNanos + nanos - nanos / 100 - 2_000_000;
    }

    /**
     * Makes a renewer. Nothing runs until something is registered.
     *
     * @param context time, ttl, request timeout and backoff
     * @param batchSize the most items of one request
     * @param goneReason what is signalled to an item that the engine no longer knows
     * @param action does the I/O
     */
    public Renewer(BackendContext context, int batchSize, LossReason goneReason, Action<R> action) {
        if (batchSize < 1) {
            throw new IllegalArgumentException("batchSize must be positive: " + batchSize);
        }
        this.scheduler = context.scheduler();
        this.ttl = context.ttl();
        this.periodNanos = Math.max(ttl.toNanos() / 3, 1);
        this.requestTimeoutNanos = context.requestTimeout().toNanos();
        this.backoff = context.retryBackoff();
        this.batchSize = batchSize;
        this.goneReason = goneReason;
        this.action = action;
        this.requests = context.requests();
        this.soon = new DelayedCheck<>(scheduler, item -> renew(List.of(item)));
        this.jumps = scheduler.afterJumps(() -> renew(items.keySet()));
    }

    /**
     * Begins to renew an item. Its own deadline stands until the first renewal, which happens soon if the deadline
     * is too near to wait for the next tick.
     *
     * @param item what to renew
     */
    public void register(R item) {
        items.put(item, RESTING);
        if (!ticking) {
            startTicking();
        }
        if (closed) {
            items.remove(item);
        } else if (item.validUntilNanos() - nextTickNanos < periodNanos / 2) {
            renewSoon(item);
        }
    }

    /** Most holds end within milliseconds, so renewing them at once would waste requests while threads are being woken. */
    private void renewSoon(R item) {
        if (item.validUntilNanos() - scheduler.nanoTime() < LITTLE_NANOS) {
            renew(List.of(item));
        } else {
            soon.add(item);
        }
    }

    /**
     * Stops renewing an item. A pending renewal keeps nothing alive here: when it is answered, the item is neither
     * registered again nor signalled as lost.
     *
     * @param item the item that is no longer renewed
     * @return whether it was registered until now; an action that itself signals a loss to an item checks this first
     */
    public boolean unregister(R item) {
        return items.remove(item) != null;
    }

    /** Stops for good. Registered items are forgotten, not signalled. */
    @Override
    public void close() {
        closed = true;
        jumps.cancel();
        synchronized (this) {
            if (timer != null) {
                timer.cancel();
                timer = null;
            }
        }
        for (Object mapped : items.values()) {
            if (mapped instanceof Renewer<?>.Batch batch) {
                batch.cancelRetry();
            }
        }
        items.clear();
    }

    private synchronized void startTicking() {
        if (!ticking && !closed) {
            ticking = true;
            nextTickNanos = scheduler.nanoTime() + periodNanos;
            timer = scheduler.schedule(periodNanos, this::tick);
        }
    }

    private void tick() {
        ticking = false;
        if (items.isEmpty()) {
            return;
        }
        startTicking();
        renew(items.keySet());
    }

    /** Sends those of the candidates that no batch carries. */
    private void renew(Collection<R> candidates) {
        long now = scheduler.nanoTime();
        Batch batch = new Batch();
        for (R item : candidates) {
            Object mapped = items.get(item);
            if (mapped != null && isFree(mapped, now) && items.replace(item, mapped, batch)) {
                batch.items.add(item);
                if (batch.items.size() == batchSize) {
                    batch.send();
                    batch = new Batch();
                }
            }
        }
        if (!batch.items.isEmpty()) {
            batch.send();
        }
    }

    private boolean isFree(Object mapped, long now) {
        return mapped == RESTING || (mapped instanceof Renewer<?>.Batch batch && batch.isStuck(now));
    }

    /** Some items on their way to the engine, until it has answered about them. One thread at a time works on it. */
    private final class Batch {
        private List<R> items = new ArrayList<>();
        private int failures;
        private volatile long sentNanos;
        private volatile boolean inFlight;
        private volatile Scheduler.@Nullable Timer retry;

        void send() {
            sentNanos = scheduler.nanoTime();
            inFlight = true;
            CompletionStage<? extends Collection<? extends R>> reply;
            try {
                reply = action.renew(List.copyOf(items));
            } catch (RuntimeException e) {
                reply = CompletableFuture.failedFuture(e);
            }
            reply.whenComplete((gone, failure) -> {
                inFlight = false;
                if (failure == null) {
                    settle(Set.copyOf(gone));
                } else {
                    keepRegistered();
                    restRenewed();
                    if (!closed && !items.isEmpty()) {
                        requests.renewalFailed(items.size(), failure);
                    }
                    retryLater();
                }
            });
        }

        /** An action that failed for some of its items may have renewed others itself: these need no retry. */
        private void restRenewed() {
            long deadline = deadline(sentNanos, ttl);
            items.removeIf(
                    item -> item.validUntilNanos() - deadline >= 0 && Renewer.this.items.replace(item, this, RESTING));
        }

        private void settle(Set<R> gone) {
            long deadline = deadline(sentNanos, ttl);
            List<R> lost = new ArrayList<>();
            for (R item : items) {
                if (gone.contains(item)) {
                    if (Renewer.this.items.remove(item, this)) {
                        lost.add(item);
                    }
                } else if (Renewer.this.items.replace(item, this, RESTING)) {
                    item.renewedUntil(deadline);
                }
            }
            // Last, because a loss runs foreign code, which must not keep the others from their new deadline.
            lost.forEach(item -> item.signalLost(goneReason));
        }

        private void retryLater() {
            failures++;
            if (!closed && keepRegistered()) {
                retry = scheduler.schedule(backoff.delay(failures).toNanos(), () -> {
                    if (!closed && keepRegistered()) {
                        send();
                    }
                });
            }
        }

        private boolean keepRegistered() {
            items = new ArrayList<>(items);
            items.removeIf(item -> Renewer.this.items.get(item) != this);
            return !items.isEmpty();
        }

        /** An action that never answers must not stop the renewal of its items permanently. */
        boolean isStuck(long now) {
            return inFlight && now - sentNanos > requestTimeoutNanos + periodNanos;
        }

        void cancelRetry() {
            Scheduler.Timer known = retry;
            if (known != null) {
                known.cancel();
            }
        }
    }
}
