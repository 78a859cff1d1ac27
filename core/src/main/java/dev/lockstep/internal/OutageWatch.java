package dev.lockstep.internal;

import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Scheduler;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notices an engine that does not answer while somebody waits for it: ends the waits that have no deadline of their own,
 * and tells listeners when the engine goes and when it is back. Looks four times in a request timeout, by one timer,
 * and only while there is something to look at.
 */
final class OutageWatch implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(OutageWatch.class);

    private final Scheduler scheduler;
    private final LockBackend backend;
    private final LongSupplier engineContact;
    private final Turnstiles turnstiles;
    private final Events events;
    private final long timeoutNanos;
    private final long periodNanos;
    private final AtomicBoolean watching = new AtomicBoolean();
    private volatile boolean closed;

    /** From when on contact is owed: the beginning of the watch, or the end of a pause. The timer's task alone uses these. */
    private long sinceNanos;

    private long dueNanos;

    private boolean unreachable;
    private long lostNanos;

    /**
     * Makes a watch.
     *
     * @param backend whose silence ends waits
     * @param engineContact when the engine itself last answered, which listeners hear of; in fallback another one answers
     *     for it
     */
    OutageWatch(
            Scheduler scheduler,
            LockBackend backend,
            LongSupplier engineContact,
            Turnstiles turnstiles,
            Events events,
            long timeoutNanos) {
        this.scheduler = scheduler;
        this.backend = backend;
        this.engineContact = engineContact;
        this.turnstiles = turnstiles;
        this.events = events;
        this.timeoutNanos = timeoutNanos;
        this.periodNanos = Math.max(timeoutNanos / 4, 1_000_000);
    }

    /**
     * Somebody waits.
     *
     * @param sinceNanos since when: the engine may have been asked and silent for a whole request timeout already, and then
     *     has a moment left
     */
    void watch(long sinceNanos) {
        if (!watching.get() && watching.compareAndSet(false, true)) {
            this.sinceNanos = sinceNanos;
            long left = sinceNanos + timeoutNanos - scheduler.nanoTime();
            next(Math.max(Math.min(left, periodNanos), periodNanos / 4));
        }
    }

    private void next(long delayNanos) {
        if (!closed) {
            dueNanos = scheduler.nanoTime() + delayNanos;
            scheduler.schedule(delayNanos, this::look);
        }
    }

    private void look() {
        if (closed) {
            return;
        }
        long now = scheduler.nanoTime();
        if (now - dueNanos >= periodNanos) {
            // This process was away, not the engine: its answers may lie unread. They have another period to be read.
            sinceNanos = now;
        }
        long contact = backend.lastContactNanos();
        boolean waiters = false;
        for (Turnstile turnstile : turnstiles.all()) {
            waiters |= turnstile.checkOutage(now, contact, sinceNanos);
        }
        long engine = engineContact.getAsLong();
        long heard = engine - sinceNanos > 0 ? engine : sinceNanos;
        if (!unreachable && now - heard >= timeoutNanos) {
            unreachable = true;
            lostNanos = heard;
            log.warn("No answer from {} for {} ms", Client.engine(backend), (now - heard) / 1_000_000);
            events.unreachable(now - heard);
        } else if (unreachable && engine - lostNanos > 0) {
            unreachable = false;
            log.info("Answers again from {} after {} ms", Client.engine(backend), (now - lostNanos) / 1_000_000);
            events.reachable(now - lostNanos);
        }
        if (waiters || unreachable) {
            if (now - contact >= timeoutNanos / 2) {
                ping();
            }
            next(periodNanos);
            return;
        }
        watching.set(false);
        for (Turnstile turnstile : turnstiles.all()) {
            if (turnstile.hasWaiters()) {
                watch(now); // came between the look and the end of the watch
                return;
            }
        }
    }

    private void ping() {
        try {
            backend.ping().whenComplete((answer, error) -> {
                if (error != null) {
                    log.debug("The engine did not answer a ping", error);
                }
            });
        } catch (RuntimeException e) {
            log.debug("The engine could not be asked", e);
        }
    }

    @Override
    public void close() {
        closed = true;
    }
}
