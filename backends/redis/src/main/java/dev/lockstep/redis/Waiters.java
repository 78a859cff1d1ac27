package dev.lockstep.redis;

import dev.lockstep.redis.internal.Failure;
import dev.lockstep.redis.internal.Keys;
import dev.lockstep.redis.internal.Refusals;
import dev.lockstep.spi.Scheduler;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The claims of this client that wait on the server, a line for each lock. A line keeps its claims in the server's
 * queue and looks after them: when the server says that the lock is free, when a holder's time is over, and at regular
 * times, since a message can be lost. Safe for use by many threads.
 */
final class Waiters {
    private static final Logger log = LoggerFactory.getLogger(Waiters.class);

    /** A waiter that was notified of a free lock and does not come delays the others for this time at most. */
    private static final long PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(650);

    /** Clocks are not that exact; a look too early would be followed by another. */
    private static final long MARGIN_NANOS = TimeUnit.MILLISECONDS.toNanos(3);

    private static final int BATCH = 500;

    private final RedisBackend backend;
    private final long periodNanos;
    private final Map<String, Line> lines = new ConcurrentHashMap<>();

    Waiters(RedisBackend backend) {
        this.backend = backend;
        this.periodNanos = Math.min(PERIOD_NANOS, backend.waiterExpiry().toNanos() / 3);
    }

    /** A claim waits from now on. */
    void join(RedisClaim claim, long freeInMillis) {
        lines.compute(claim.request().name(), (name, known) -> {
            Line line = known == null ? new Line(claim.keys()) : known;
            line.add(claim, freeInMillis);
            return line;
        });
        if (!claim.isWaiting()) {
            leave(claim); // the answer came by push meanwhile, and did not find it here
        } else if (claim.takeHint()) {
            look(claim); // so did word that the lock is free
        }
    }

    /** A claim does not wait any more. */
    void leave(RedisClaim claim) {
        if (!lines.isEmpty()) {
            lines.computeIfPresent(claim.request().name(), (name, line) -> line.remove(claim) ? null : line);
        }
    }

    /** The lock may be free. */
    void look(RedisClaim claim) {
        Line line = lines.get(claim.request().name());
        if (line != null) {
            line.lookNow();
        }
    }

    /** Anything may have happened. */
    void lookEverywhere() {
        lines.values().forEach(Line::lookNow);
    }

    private final class Line {
        private final Keys keys;
        private final Set<RedisClaim> claims = new LinkedHashSet<>(); // guarded by this, as all that follows
        private boolean looking;
        private boolean again;
        private final Refusals refusals = new Refusals(backend.context());
        private long nextNanos;
        private Scheduler.@Nullable Timer timer;

        Line(Keys keys) {
            this.keys = keys;
        }

        synchronized void add(RedisClaim claim, long freeInMillis) {
            claims.add(claim);
            schedule(untilNextLook(freeInMillis));
        }

        /** True if nobody is left. */
        synchronized boolean remove(RedisClaim claim) {
            claims.remove(claim);
            if (claims.isEmpty() && timer != null) {
                timer.cancel();
                timer = null;
            }
            return claims.isEmpty();
        }

        private long untilNextLook(long freeInMillis) {
            long regular = periodNanos - ThreadLocalRandom.current().nextLong(periodNanos / 8 + 1);
            long free = freeInMillis == 0 ? 0 : TimeUnit.MILLISECONDS.toNanos(freeInMillis) + MARGIN_NANOS;
            return freeInMillis >= 0 && free < regular ? free : regular;
        }

        private synchronized void schedule(long delayNanos) {
            again |= delayNanos == 0; // the look under way may have missed the change
            long at = backend.scheduler().nanoTime() + delayNanos;
            if (looking || claims.isEmpty() || (timer != null && at - nextNanos >= 0)) {
                return;
            }
            if (timer != null) {
                timer.cancel();
            }
            nextNanos = at;
            timer = backend.scheduler().schedule(delayNanos, this::lookNow);
        }

        void lookNow() {
            synchronized (this) {
                if (looking) {
                    again = true;
                    return;
                }
                looking = true;
                again = false;
                if (timer != null) {
                    timer.cancel();
                    timer = null;
                }
            }
            backend.link().execute(this::look);
        }

        private void look() {
            List<RedisClaim> waiting;
            synchronized (this) {
                waiting = new ArrayList<>(claims);
                again = false;
            }
            long sent = backend.scheduler().nanoTime();
            long delay = untilNextLook(-1);
            try {
                for (int from = 0; from < waiting.size(); from += BATCH) {
                    List<RedisClaim> some = waiting.subList(from, Math.min(from + BATCH, waiting.size()));
                    delay = Math.min(delay, look(some));
                }
                refusals.end();
            } catch (Failure e) {
                delay = refusals.delayNanos(e, backend.link(), sent);
                if (delay < 0) {
                    waiting.forEach(claim -> claim.lookFailed(e));
                    delay = untilNextLook(-1);
                }
            } catch (RuntimeException e) {
                log.warn("Lock '{}': checking its waiters failed; it is repeated", keys.lockName(), e);
            }
            boolean more;
            synchronized (this) {
                looking = false;
                more = again && !claims.isEmpty();
            }
            if (more) {
                lookNow();
            } else {
                schedule(delay);
            }
        }

        /** Looks after some claims; returns how long it is until the next look. */
        private long look(List<RedisClaim> some) throws Failure {
            long sent = backend.scheduler().nanoTime();
            List<Answer> answers =
                    backend.dialect().look(keys, some, backend.context().requestDeadlineNanos());
            long delay = untilNextLook(-1);
            for (int i = 0; i < some.size(); i++) {
                delay = Math.min(delay, untilNextLook(answers.get(i).freeInMillis()));
                some.get(i).looked(answers.get(i), sent);
            }
            return delay;
        }
    }
}
