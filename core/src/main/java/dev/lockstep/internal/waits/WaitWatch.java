package dev.lockstep.internal.waits;

import dev.lockstep.internal.turnstile.Hold;
import dev.lockstep.internal.turnstile.Turnstile;
import dev.lockstep.internal.turnstile.TurnstileContext;
import dev.lockstep.internal.turnstile.Waiter;
import dev.lockstep.spi.Scheduler;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Finds threads that hold locks and have waited for another one for some time, and records that in the engine. One
 * timer for all of them, which runs only while a call waits; a call that does not wait never comes here. Safe for use
 * by many threads.
 */
public final class WaitWatch implements TurnstileContext.Waits, AutoCloseable {
    /*
     * Overview
     *
     * A thread that begins to wait starts the timer, unless it runs. Each look examines every call once, when it is old
     * enough: if its thread holds locks, the call becomes a RecordedWait, which is written beside the grants of these holds.
     * A thread gets no further lock while it waits, so it need not be examined again. When the wait is over, its thread removes
     * the records. A look finds what the thread missed, and tries again what the engine has not answered.
     */

    private final TurnstileContext client;
    private final long afterNanos;
    private final DeadlockWatch deadlocks;
    private final AtomicBoolean watching = new AtomicBoolean();
    private final Map<Waiter, RecordedWait> recorded = new IdentityHashMap<>(); // guarded by this
    private Scheduler.@Nullable Timer timer; // guarded by this
    private boolean closed; // guarded by this

    /**
     * Makes a watch.
     *
     * @param afterNanos how long a thread waits before that is recorded
     * @param deadlocks is notified of every such wait
     */
    public WaitWatch(TurnstileContext client, long afterNanos, DeadlockWatch deadlocks) {
        this.client = client;
        this.afterNanos = afterNanos;
        this.deadlocks = deadlocks;
    }

    @Override
    public void watch() {
        if (!watching.get() && watching.compareAndSet(false, true)) {
            next(afterNanos);
        }
    }

    private synchronized void next(long delayNanos) {
        if (!closed) {
            timer = client.scheduler().schedule(delayNanos, this::look);
        }
    }

    private void look() {
        Map<Thread, Waiter> due = new IdentityHashMap<>();
        long nextDue = examine(due, client.nanoTime());
        boolean left = settle();
        if (!due.isEmpty()) {
            begin(due);
        }
        if (nextDue < Long.MAX_VALUE || left || isAnyRecorded()) {
            next(Math.max(Math.min(nextDue, afterNanos), afterNanos / 8));
            return;
        }
        watching.set(false);
        for (Turnstile turnstile : client.turnstiles().all()) {
            if (turnstile.hasWaiters()) {
                watch(); // came between the look and the end of the watch, or is about to go
                return;
            }
        }
    }

    /** Collects calls that have become old enough. The time until the next one does; the longest if there is none. */
    private long examine(Map<Thread, Waiter> due, long now) {
        long nextDue = Long.MAX_VALUE;
        for (Turnstile turnstile : client.turnstiles().all()) {
            for (Waiter waiter : turnstile.hasWaiters() ? turnstile.waiters() : List.<Waiter>of()) {
                Thread thread = waiter.thread();
                long left = afterNanos - (now - waiter.startNanos());
                if (thread != null && left > 0) {
                    nextDue = Math.min(nextDue, left);
                } else if (thread != null && waiter.examine()) {
                    due.put(thread, waiter);
                }
            }
        }
        return nextDue;
    }

    /** Ends what is over, and tries again what failed. True if something is left that may have failed. */
    private boolean settle() {
        List<RecordedWait> over = new ArrayList<>();
        synchronized (this) {
            recorded.values().removeIf(wait -> wait.waiter().isOver() && over.add(wait));
        }
        over.forEach(this::end);
        boolean left = false;
        for (Turnstile turnstile : client.turnstiles().all()) {
            if (turnstile.waits().isAny()) {
                turnstile.waits().retry();
                left |= turnstile.waits().isAny();
            }
        }
        return left;
    }

    private synchronized boolean isAnyRecorded() {
        return !recorded.isEmpty();
    }

    private void begin(Map<Thread, Waiter> due) {
        Map<Thread, List<Hold>> holds = new IdentityHashMap<>();
        for (Turnstile turnstile : client.turnstiles().all()) {
            for (Hold hold : turnstile.holds()) {
                Thread owner = hold.owner;
                if (owner != null && due.containsKey(owner)) {
                    holds.computeIfAbsent(owner, thread -> new ArrayList<>()).add(hold);
                }
            }
        }
        holds.forEach((thread, held) -> {
            Waiter waiter = due.get(thread);
            if (waiter != null) {
                begin(waiter, RecordedWait.of(waiter, thread, held, client));
            }
        });
    }

    private void begin(Waiter waiter, RecordedWait wait) {
        synchronized (this) {
            if (closed) {
                return;
            }
            recorded.put(waiter, wait);
            waiter.markRecorded();
        }
        wait.begin();
        deadlocks.began(wait);
        if (waiter.isOver() || !isRecorded(waiter)) { // its thread may have come before the records
            ended(waiter);
            end(wait);
        }
    }

    private synchronized boolean isRecorded(Waiter waiter) {
        return recorded.containsKey(waiter);
    }

    @Override
    public void ended(Waiter waiter) {
        RecordedWait wait;
        synchronized (this) {
            wait = recorded.remove(waiter);
        }
        if (wait != null) {
            end(wait);
        }
    }

    private void end(RecordedWait wait) {
        deadlocks.ended(wait);
        wait.end();
    }

    @Override
    public synchronized void close() {
        closed = true;
        recorded.clear();
        if (timer != null) {
            timer.cancel();
        }
    }
}
