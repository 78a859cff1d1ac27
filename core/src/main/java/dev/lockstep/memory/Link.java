package dev.lockstep.memory;

import dev.lockstep.memory.MemoryEngine.Outage;
import dev.lockstep.spi.Scheduler;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * The wire between one client and the engine. Carries messages inside the call, unless a fault is simulated.
 *
 * <p>A message that an outage delays represents all tries of a request, of which the last gets through when the outage
 * ends: since a claim id makes tries idempotent, the engine need not see each of them. Safe for use by many threads.
 */
final class Link {
    private final Scheduler scheduler;

    /** Whether nothing is simulated and nothing is delayed, so that the wire need not be asked. */
    private volatile boolean clear = true;

    private volatile long lastContactNanos;

    // All guarded by this.
    private long delayNanos;
    private @Nullable Outage outage;
    private boolean draining;
    private boolean cut;
    private final Deque<Runnable> requests = new ArrayDeque<>();
    private final Deque<Runnable> notices = new ArrayDeque<>();

    Link(Scheduler scheduler) {
        this.scheduler = scheduler;
    }

    boolean isClear() {
        return clear;
    }

    long lastContactNanos() {
        return clear ? scheduler.nanoTime() : lastContactNanos;
    }

    /** Carries a request to the engine. */
    void toEngine(Runnable request) {
        synchronized (this) {
            if (cut) {
                return;
            }
            // Delayed messages go first: a claim must not overtake the opening of its session.
            if (outage == Outage.REQUESTS_LOST || !requests.isEmpty() || draining) {
                requests.add(request);
                return;
            }
        }
        request.run();
    }

    /** Carries a reply or a push to the client. */
    void toClient(Runnable notice) {
        long delay;
        synchronized (this) {
            if (cut) {
                return;
            }
            if (outage != null || draining) {
                notices.add(notice);
                return;
            }
            delay = delayNanos;
        }
        if (delay == 0) {
            notice.run();
        } else {
            long sent = scheduler.nanoTime();
            scheduler.schedule(delay, () -> arriveLate(notice, sent));
        }
    }

    private void arriveLate(Runnable notice, long sent) {
        synchronized (this) {
            if (cut) {
                return;
            }
            if (outage != null || draining) {
                notices.add(notice);
                return;
            }
            lastContactNanos = sent - lastContactNanos > 0 ? sent : lastContactNanos;
        }
        notice.run();
    }

    synchronized void delay(long nanos) {
        noteContact();
        delayNanos = nanos;
        updateClear();
    }

    synchronized void disconnect(Outage kind) {
        noteContact();
        outage = kind;
        updateClear();
    }

    /**
     * Ends an outage.
     *
     * @param greeting what the client does first when it is connected again, before any delayed message
     */
    void reconnect(Runnable greeting) {
        synchronized (this) {
            if (outage == null || cut) {
                return;
            }
            outage = null;
            draining = true;
            lastContactNanos = scheduler.nanoTime();
        }
        greeting.run();
        for (Runnable next = nextHeldUp(); next != null; next = nextHeldUp()) {
            next.run();
        }
    }

    private synchronized @Nullable Runnable nextHeldUp() {
        Runnable next = outage != null ? null : requests.poll();
        if (next == null && outage == null) {
            next = notices.poll();
        }
        if (next == null) {
            draining = false;
            updateClear();
        }
        return next;
    }

    /** Carries nothing any more. */
    synchronized void cut() {
        noteContact();
        cut = true;
        requests.clear();
        notices.clear();
        updateClear();
    }

    private synchronized void noteContact() {
        lastContactNanos = lastContactNanos();
    }

    private synchronized void updateClear() {
        clear = delayNanos == 0 && outage == null && !draining && !cut && requests.isEmpty();
    }
}
