package dev.lockstep.redis.redlock;

import dev.lockstep.spi.Backoff;
import dev.lockstep.spi.Retry;
import dev.lockstep.spi.Scheduler;
import java.time.Duration;
import java.util.BitSet;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Decides when a claim that has lost a round tries again. Guarded by the claim's monitor. */
final class NextRound {
    /*
     * Overview. It tries again when a majority of servers has said that the lock is free, some milliseconds after the
     * first of them said so, when the holder's time is over, and at regular times, since a message can be lost. Claims
     * that have split the servers among them try again after a random time.
     */
    private static final Backoff SPLITS = new Backoff(Duration.ofMillis(8), Duration.ofMillis(100));
    private static final long PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(650);
    private static final long MARGIN_NANOS = TimeUnit.MILLISECONDS.toNanos(3);
    private static final long HINT_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final RedlockBackend backend;
    private final Runnable ask;
    private final BitSet hints = new BitSet();
    private final Retry retry;
    private int splits;
    private Scheduler.@Nullable Timer timer;

    NextRound(RedlockBackend backend, Runnable ask) {
        this.backend = backend;
        this.ask = ask;
        this.retry = Retry.endless(backend.context());
    }

    /** A round begins; what servers said before is of no interest any more. */
    void begin() {
        end();
        hints.clear();
    }

    /** A round was lost, and the next is to come. */
    void await(Ballot lost, String claimId) {
        wake(hints.cardinality() >= backend.majority() ? 0 : untilNextRound(lost, claimId));
    }

    /** A server says that the lock is free there. */
    void hint(int server, boolean waiting) {
        hints.set(server);
        if (waiting) {
            if (hints.cardinality() >= backend.majority()) {
                wake(0);
            } else if (hints.cardinality() == 1) {
                wake(HINT_NANOS);
            }
        }
    }

    /** There will be no other round, or it is there. */
    void end() {
        if (timer != null) {
            timer.cancel();
            timer = null;
        }
    }

    private void wake(long delayNanos) {
        end();
        timer = backend.scheduler().schedule(delayNanos, ask);
    }

    private long untilNextRound(Ballot lost, String claimId) {
        if (lost.isHeldByAnother(claimId)) {
            retry.succeeded();
            splits = 0;
            long regular = PERIOD_NANOS - ThreadLocalRandom.current().nextLong(PERIOD_NANOS / 8);
            long free = lost.freeInMillis();
            long wait = free < 0 ? regular : Math.min(regular, TimeUnit.MILLISECONDS.toNanos(free) + MARGIN_NANOS);
            return hints.isEmpty() ? wait : Math.min(wait, HINT_NANOS);
        }
        if (lost.young() > 0) {
            return PERIOD_NANOS;
        }
        if (!lost.isAnsweredByMajority()) {
            return retry.delayNanos();
        }
        return SPLITS.delay(++splits).toNanos();
    }
}
