package dev.lockstep.internal.fallback;

import dev.lockstep.internal.engine.Silence;
import dev.lockstep.internal.fallback.FallbackRouter.Side;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Scheduler;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Says when the primary engine is gone and when it is back; see {@link FallbackRouter}. One timer, and only while there
 * is something to look at: from a request until it and all others are answered, and in fallback.
 *
 * <p>Gone is: asked for something, and silent since, for a time of which this process saw at least half. An engine that
 * has nothing else to say is pinged, four times in that time. Back is: answered something that was sent in fallback.
 */
final class PrimaryWatch implements AutoCloseable {
    private final FallbackRouter router;
    private final LockBackend primary;
    private final BackendContext context;
    private final Scheduler scheduler;
    private final long afterNanos;

    /** When the primary was asked for something last. */
    private volatile long neededNanos;

    private volatile boolean watching; // written under this

    // All guarded by this.
    private final RandomGenerator jitter; // differs from client to client, and not from run to run of a simulation
    private boolean closed;
    private Scheduler.@Nullable Timer timer;
    private final Silence silence;
    private int probes;
    private boolean probing;
    private long probedNanos;

    PrimaryWatch(FallbackRouter router, LockBackend primary, BackendContext context, Duration after) {
        this.router = router;
        this.primary = primary;
        this.context = context;
        this.scheduler = context.scheduler();
        this.afterNanos = after.toNanos();
        this.silence = new Silence(Math.max(afterNanos / 4, 100_000));
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
            silence.begin(sentNanos);
            next(silence.periodNanos());
        }
    }

    private synchronized void next(long delayNanos) {
        if (!closed) {
            silence.nextLookAt(scheduler.nanoTime() + delayNanos);
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
        long silent;
        synchronized (this) {
            silence.skip(silence.awayNanos(now)); // this process was paused; the primary may have run
            silence.heard(contact);
            silent = now - silence.sinceNanos();
        }
        if (silent >= afterNanos) {
            router.enter(silent);
            probe();
        } else if (contact - neededNanos >= 0 && !router.isNeeded()) {
            end();
        } else {
            if (silent >= silence.periodNanos()) {
                ping();
            }
            next(Math.min(silence.periodNanos(), afterNanos - silent));
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
            next(silence.periodNanos());
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
        Silence.ping(primary, answered -> {
            if (inFallback) {
                probed(answered);
            }
        });
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
            silence.begin(scheduler.nanoTime());
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
