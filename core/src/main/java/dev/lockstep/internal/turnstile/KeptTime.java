package dev.lockstep.internal.turnstile;

import dev.lockstep.LockMode;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The rest of a minimum time: a hold ended before it, and until then no caller that the hold would exclude gets the
 * lock. Guarded by the turnstile's mutex.
 */
final class KeptTime {
    private final long untilNanos;
    private final boolean exclusive;

    /** Whether a timer will look at it. */
    private boolean timer;

    private KeptTime(long untilNanos, boolean exclusive, boolean timer) {
        this.untilNanos = untilNanos;
        this.exclusive = exclusive;
        this.timer = timer;
    }

    /** The longer of what is known and of what a hold that has ended asks for. */
    static KeptTime longer(@Nullable KeptTime known, Hold ended) {
        long end = ended.minHoldEndNanos();
        boolean exclusive = ended.mode == LockMode.EXCLUSIVE;
        return known == null
                ? new KeptTime(end, exclusive, false)
                : new KeptTime(
                        known.untilNanos - end > 0 ? known.untilNanos : end, known.exclusive || exclusive, known.timer);
    }

    /** How much of it is left; not positive if nothing. */
    long leftNanos(long now) {
        return untilNanos - now;
    }

    /** How long the engine keeps what is released: only a client that closes releases before the time is over. */
    Duration rest(long now) {
        return Duration.ofNanos(Math.max(0, leftNanos(now)));
    }

    boolean excludes(LockMode mode, long now) {
        return (exclusive || mode == LockMode.EXCLUSIVE) && leftNanos(now) > 0;
    }

    /** True if no timer looks at it yet; the caller sets one. */
    boolean beginTimer() {
        boolean news = !timer;
        timer = true;
        return news;
    }

    boolean hasTimer() {
        return timer;
    }

    void endTimer() {
        timer = false;
    }
}
