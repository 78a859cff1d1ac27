package dev.lockstep.internal.watch;

import dev.lockstep.internal.engine.Silence;
import dev.lockstep.internal.events.Events;
import dev.lockstep.internal.semaphore.Semaphores;
import dev.lockstep.internal.turnstile.Turnstile;
import dev.lockstep.internal.turnstile.Turnstiles;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Scheduler;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;

/**
 * Notices an engine that does not answer while somebody waits for it: ends the waits that have no deadline of their own,
 * and tells listeners when the engine goes and when it is back. Looks four times in a request timeout, by one timer,
 * and only while there is something to look at.
 */
public final class OutageWatch implements AutoCloseable {
    private final Scheduler scheduler;
    private final LockBackend backend;
    private final LongSupplier engineContact;
    private final Turnstiles turnstiles;
    private final Semaphores semaphores;
    private final Events events;
    private final long timeoutNanos;
    private final AtomicBoolean watching = new AtomicBoolean();
    private volatile boolean closed;

    /** From the beginning of the watch, or the end of a pause. The timer's task alone uses this and the next. */
    private final Silence silence;

    private boolean unreachable;
    private long lostNanos;

    /**
     * Makes a watch.
     *
     * @param backend whose silence ends waits
     * @param engineContact when the engine itself last answered, which listeners hear of; in fallback another one answers
     *     for it
     */
    public OutageWatch(
            Scheduler scheduler,
            LockBackend backend,
            LongSupplier engineContact,
            Turnstiles turnstiles,
            Semaphores semaphores,
            Events events,
            long timeoutNanos) {
        this.scheduler = scheduler;
        this.backend = backend;
        this.engineContact = engineContact;
        this.turnstiles = turnstiles;
        this.semaphores = semaphores;
        this.events = events;
        this.timeoutNanos = timeoutNanos;
        this.silence = new Silence(Math.max(timeoutNanos / 4, 1_000_000));
    }

    /**
     * Somebody waits.
     *
     * @param sinceNanos since when: the engine may have been asked and silent for a whole request timeout already, and then
     *     has a moment left
     */
    public void watch(long sinceNanos) {
        if (!watching.get() && watching.compareAndSet(false, true)) {
            silence.begin(sinceNanos);
            long left = sinceNanos + timeoutNanos - scheduler.nanoTime();
            long period = silence.periodNanos();
            next(Math.max(Math.min(left, period), period / 4));
        }
    }

    private void next(long delayNanos) {
        if (!closed) {
            silence.nextLookAt(scheduler.nanoTime() + delayNanos);
            scheduler.schedule(delayNanos, this::look);
        }
    }

    private void look() {
        if (closed) {
            return;
        }
        long now = scheduler.nanoTime();
        if (silence.awayNanos(now) > 0) {
            silence.begin(now); // this process was away, not the engine: its answers may lie unread
        }
        long contact = backend.lastContactNanos();
        boolean waiters = semaphores.checkOutage(now, contact, silence.sinceNanos());
        for (Turnstile turnstile : turnstiles.all()) {
            waiters |= turnstile.checkOutage(now, contact, silence.sinceNanos());
        }
        report(now);
        if (waiters || unreachable) {
            if (now - contact >= timeoutNanos / 2) {
                Silence.ping(backend, answered -> {});
            }
            next(silence.periodNanos());
            return;
        }
        watching.set(false);
        if (semaphores.hasWaiters()) {
            watch(now);
            return;
        }
        for (Turnstile turnstile : turnstiles.all()) {
            if (turnstile.hasWaiters()) {
                watch(now); // came between the look and the end of the watch
                return;
            }
        }
    }

    /** Tells listeners when the engine goes, and when it is back. */
    private void report(long now) {
        long engine = engineContact.getAsLong();
        long heard = silence.sinceNanos(engine);
        if (!unreachable && now - heard >= timeoutNanos) {
            unreachable = true;
            lostNanos = heard;
            events.unreachable(now - heard);
        } else if (unreachable && engine - lostNanos > 0) {
            unreachable = false;
            events.reachable(now - lostNanos);
        }
    }

    @Override
    public void close() {
        closed = true;
    }
}
