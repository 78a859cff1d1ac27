package dev.lockstep.internal.watch;

import dev.lockstep.internal.turnstile.Turnstile;
import dev.lockstep.internal.turnstile.Turnstiles;
import dev.lockstep.spi.Scheduler;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Ends holds at their deadlines: one timer for all holds of a client. It is set for the earliest deadline known; when it
 * fires, deadlines have usually moved on by renewal, and it is set for the next. So a hold that comes and goes costs one
 * volatile read here.
 */
public final class DeadlineWatch implements AutoCloseable {
    private final Scheduler scheduler;
    private final Turnstiles turnstiles;
    private final LongConsumer alsoLooks;

    /** When the timer fires; meaningless while {@link #set} is false. */
    private volatile long nextNanos;

    private volatile boolean set;
    private final Scheduler.Timer jumps;
    private Scheduler.@Nullable Timer timer;
    private boolean closed;

    /**
     * Makes a watch.
     *
     * @param alsoLooks is called at each look with the time
     */
    public DeadlineWatch(Scheduler scheduler, Turnstiles turnstiles, LongConsumer alsoLooks) {
        this.scheduler = scheduler;
        this.turnstiles = turnstiles;
        this.alsoLooks = alsoLooks;
        this.jumps = scheduler.afterJumps(this::lookNow);
    }

    /** Makes sure that a deadline is checked. */
    public void watch(long deadlineNanos) {
        if (!set || deadlineNanos - nextNanos < 0) {
            setTimer(deadlineNanos);
        }
    }

    private synchronized void setTimer(long deadlineNanos) {
        if (closed || set && deadlineNanos - nextNanos >= 0) {
            return;
        }
        if (timer != null) {
            timer.cancel();
        }
        nextNanos = deadlineNanos;
        set = true;
        timer = scheduler.schedule(deadlineNanos - scheduler.nanoTime(), this::fire);
    }

    /** The deadline that the timer was set for may be past already. */
    private void lookNow() {
        synchronized (this) {
            if (closed || timer == null) {
                return;
            }
            timer.cancel();
        }
        fire();
    }

    private void fire() {
        synchronized (this) {
            // From here on a new hold sets the timer itself; the look below finds every older one.
            set = false;
            timer = null;
        }
        long now = scheduler.nanoTime();
        long latest = now + Long.MAX_VALUE / 2;
        long earliest = latest;
        for (Turnstile turnstile : turnstiles.all()) {
            turnstile.checkDeadlines(now);
            earliest = turnstile.earliestDeadline(earliest);
        }
        if (earliest != latest) {
            watch(earliest);
        }
        alsoLooks.accept(now);
        turnstiles.sweep();
    }

    @Override
    public synchronized void close() {
        closed = true;
        jumps.cancel();
        if (timer != null) {
            timer.cancel();
        }
    }
}
