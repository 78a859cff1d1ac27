package dev.lockstep.internal;

import dev.lockstep.internal.FallbackRouter.Side;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Scheduler;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says when the primary engine is gone and when it is back; see {@link FallbackRouter}. One timer, and only while there
 * is something to look at: from a request until it and all others are answered, and in fallback.
 *
 * <p>Gone is: asked for something, and silent since, for a time of which this process saw at least half. An engine that
 * has nothing else to say is pinged, four times in that time. Back is: answered something that was sent in fallback.
 */
final class PrimaryWatch implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(PrimaryWatch.class);

    private final FallbackRouter router;
    private final LockBackend primary;
    private final BackendContext context;
    private final Scheduler scheduler;
    private final long afterNanos;
    private final long intervalNanos;

    /** When the primary was asked for something last. */
    private volatile long neededNanos;

    private volatile boolean watching; // written under this

    // All guarded by this.
    private final RandomGenerator jitter; // differs from client to client, and not from run to run of a simulation
    private boolean closed;
    private Scheduler.@Nullable Timer timer;
    private long dueNanos;
    private long silentSinceNanos;
    private int probes;
    private boolean probing;
    private long probedNanos;

    PrimaryWatch(FallbackRouter router, LockBackend primary, BackendContext context, Duration after) {
        this.router = router;
        this.primary = primary;
        this.context = context;
        this.scheduler = context.scheduler();
        this.afterNanos = after.toNanos();
        this.intervalNanos = Math.max(afterNanos / 4, 100_000);
        this.jitter = new SplittableRandom(context.clientId().hashCode());
    }

    /** The primary is about to be asked for something. */
    void needed(long sentNanos) {
        neededNanos = sentNanos;
        if (!watching) {
            begin(sentNanos);
        }
    }

    /** The primary was gone from the start. */
    void beginAway() {
        synchronized (this) {
            watching = true;
        }
        probe();
    }

    private synchronized void begin(long sentNanos) {
        if (!watching && !closed) {
            watching = true;
            silentSinceNanos = sentNanos;
            next(intervalNanos);
        }
    }

    private synchronized void next(long delayNanos) {
        if (!closed) {
            dueNanos = scheduler.nanoTime() + delayNanos;
            timer = scheduler.schedule(delayNanos, this::look);
        }
    }

    private void look() {
        if (router.side() == Side.PRIMARY) {
            listen();
        } else {
            probe();
        }
    }

    /** Looks how long the primary has been silent. */
    private void listen() {
        long now = scheduler.nanoTime();
        long contact = primary.lastContactNanos();
        long silence;
        synchronized (this) {
            if (now - dueNanos > intervalNanos) {
                silentSinceNanos += now - dueNanos; // this process stood still; the primary need not have
            }
            if (contact - silentSinceNanos > 0) {
                silentSinceNanos = contact;
            }
            silence = now - silentSinceNanos;
        }
        if (silence >= afterNanos) {
            router.enter(silence);
            probe();
        } else if (contact - neededNanos >= 0 && !router.isNeeded()) {
            end();
        } else {
            if (silence >= intervalNanos) {
                ping();
            }
            next(Math.min(intervalNanos, afterNanos - silence));
        }
    }

    private void end() {
        watching = false;
        if (router.isNeeded()) {
            begin(neededNanos); // came between the look and the end of the watch
        }
    }

    /** Asks whether the primary is back: one ping at a time, by the client's backoff. */
    private void probe() {
        if (primary.lastContactNanos() - router.sideSinceNanos() >= 0) {
            back();
            next(intervalNanos);
            return;
        }
        long now = scheduler.nanoTime();
        boolean due;
        Duration delay;
        synchronized (this) {
            due = !probing || now - probedNanos >= context.requestTimeout().toNanos();
            if (due) {
                probing = true;
                probedNanos = now;
                probes++;
            }
            delay = context.retryBackoff().delay(probes, jitter);
        }
        if (due) {
            ping();
        }
        next(delay.toNanos());
    }

    private void ping() {
        boolean inFallback = router.side() == Side.FALLBACK;
        try {
            primary.ping().whenComplete((answer, error) -> {
                if (error != null) {
                    log.debug("The engine did not answer a ping", error);
                }
                if (inFallback) {
                    probed(error == null);
                }
            });
        } catch (RuntimeException e) {
            log.debug("The engine could not be asked", e);
            if (inFallback) {
                probed(false);
            }
        }
    }

    private void probed(boolean answered) {
        synchronized (this) {
            probing = false;
        }
        if (answered) {
            back();
        }
    }

    private void back() {
        synchronized (this) {
            probes = 0;
            silentSinceNanos = scheduler.nanoTime();
        }
        router.leave();
    }

    @Override
    public synchronized void close() {
        closed = true;
        if (timer != null) {
            timer.cancel();
        }
    }
}
