package dev.lockstep.redis.internal;

import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.Retry;

/**
 * How long a request that is made again and again has been refused, or has failed while the engine answered others. A
 * failover takes a moment, and is tolerated; a server that stays a replica, or a node of a cluster that stays away, is
 * an error which nobody else would notice, because the engine answers. Guarded by its user.
 */
public final class Refusals {
    private final BackendContext context;
    private final Retry retry;
    private final long timeoutNanos;
    private final long borneNanos;
    private boolean failing;
    private boolean othersAnswered;
    private long sinceNanos;

    /** Refusals of a client's requests: reported before the core gives up, which knows nothing of them. */
    public Refusals(BackendContext context) {
        this.context = context;
        this.retry = Retry.endless(context);
        this.timeoutNanos = context.requestTimeout().toNanos();
        this.borneNanos = timeoutNanos / 4 * 3;
    }

    /**
     * A request over a link failed.
     *
     * @return how long to wait before the next try; negative if there is to be none, because no try can succeed or this has
     *     gone on for too long
     */
    public long delayNanos(Failure failure, Link link, long sentNanos) {
        long delay = retry.delayNanos();
        long now = context.scheduler().nanoTime();
        boolean over = failure.kind() == Failure.Kind.FINAL || lastTooLong(failure, link, sentNanos, now, delay);
        return over ? -1 : delay;
    }

    /** How many tries have failed in a row. */
    public int failures() {
        return retry.failures();
    }

    private boolean lastTooLong(Failure failure, Link link, long sentNanos, long nowNanos, long untilNextTryNanos) {
        if (failure.isRefusal()) {
            begin(nowNanos);
            return nowNanos + untilNextTryNanos - sinceNanos >= borneNanos;
        }
        if (link.route().isCluster()) {
            return lastTooLongBesideOthers(link.lastContactNanos(), sentNanos, nowNanos);
        }
        failing = false;
        return false;
    }

    /**
     * The request failed, whatever the reason; true if others have been answered for too long meanwhile. If no request
     * is answered, that is an outage, which the core notices. The time counts from an answer to others, not from the
     * first failure: at the end of an outage others may be answered a moment earlier.
     *
     * @param contactNanos when the last request that the engine answered was sent
     */
    public boolean lastTooLongBesideOthers(long contactNanos, long sentNanos, long nowNanos) {
        if (nowNanos - contactNanos > timeoutNanos) {
            failing = false;
        }
        begin(sentNanos);
        if (!othersAnswered && contactNanos - sinceNanos > 0) {
            othersAnswered = true;
            sinceNanos = contactNanos;
        }
        return othersAnswered && nowNanos - sinceNanos >= borneNanos && contactNanos - sinceNanos >= borneNanos / 2;
    }

    private void begin(long nanos) {
        if (!failing) {
            failing = true;
            othersAnswered = false;
            sinceNanos = nanos;
        }
    }

    /** The request was answered. */
    public void end() {
        failing = false;
        retry.succeeded();
    }
}
