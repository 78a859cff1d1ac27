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
import org.jspecify.annotations.Nullable;

/**
 * Notices an engine that does not answer while a call waits for it: ends the waits that have no deadline of their own,
 * and notifies listeners when the engine becomes unreachable and when it is back. Looks four times in a request timeout
 * and when the next wait ends, by one timer, and only while there is something to look at.
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

    /** When the engine was pinged; null if it has answered since. */
    private volatile @Nullable Long askedNanos;

    private boolean unreachable;
    private long lostNanos;

    /**
     * Makes a watch.
     *
     * @param backend whose silence ends waits
     * @param engineContact when the engine itself last answered, which listeners are notified of; in fallback another
     *     engine answers for it
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
     * A call waits.
     *
     * @param sinceNanos since when: the engine may have been asked and silent for a whole request timeout already, and then
     *     has a moment left
     */
    public void watch(long sinceNanos) {
        if (!watching.get() && watching.compareAndSet(false, true)) {
            begin(sinceNanos);
            long left = sinceNanos + timeoutNanos - scheduler.nanoTime();
            long period = silence.periodNanos();
            next(Math.max(Math.min(left, period), period / 4));
        }
    }

    /**
     * Since when the engine owes an answer. A request that has just been sent does not count: the engine may be slow.
     *
     * @return the given time if it owes none
     */
    public long owedSince(long now) {
        Long asked = askedNanos;
        return asked != null && backend.lastContactNanos() - asked < 0 ? asked : now;
    }

    private void begin(long fromNanos) {
        silence.begin(fromNanos);
        askedNanos = null;
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
            begin(now); // this process was paused, not the engine: its answers may be unread
        }
        long contact = backend.lastContactNanos();
        long left = semaphores.checkOutage(now, contact, silence.sinceNanos());
        for (Turnstile turnstile : turnstiles.all()) {
            left = sooner(left, turnstile.checkOutage(now, contact, silence.sinceNanos()));
        }
        boolean waiters = left != 0;
        report(now);
        if (waiters || unreachable) {
            if (now - contact >= timeoutNanos / 2) {
                ask(now);
            }
            next(waiters ? Math.min(left, silence.periodNanos()) : silence.periodNanos());
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

    /** The shorter of two times; 0 is none. */
    private static long sooner(long one, long other) {
        return one == 0 ? other : other == 0 ? one : Math.min(one, other);
    }

    private void ask(long now) {
        if (owedSince(now) == now) {
            askedNanos = now;
        }
        Silence.ping(backend, answered -> {});
    }

    /** Notifies listeners when the engine becomes unreachable, and when it is back. */
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
