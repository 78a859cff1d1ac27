package dev.lockstep.redis;

import java.time.Duration;

/**
 * How long a request that is made again and again has been refused, or has failed while the engine answered others. A
 * failover takes a moment, and is borne; a server that stays a replica, or a node of a cluster that stays away, is an error
 * which nobody else would notice, because the engine answers. Guarded by its user.
 */
final class Refusals {
    private final long timeoutNanos;
    private final long borneNanos;
    private boolean failing;
    private boolean othersAnswered;
    private long sinceNanos;

    /** Refusals of a client's requests: told before the core gives up, which knows nothing of them. */
    Refusals(Duration requestTimeout) {
        this.timeoutNanos = requestTimeout.toNanos();
        this.borneNanos = timeoutNanos / 4 * 3;
    }

    /** A request over a link failed; true if that has gone on for so long that it is not to be tried again. */
    boolean lastTooLong(Failure failure, Link link, long sentNanos, long nowNanos, long untilNextTryNanos) {
        if (failure.isRefusal()) {
            begin(nowNanos);
            return nowNanos + untilNextTryNanos - sinceNanos >= borneNanos;
        }
        if (link.route().isCluster()) {
            return lastTooLongBesideOthers(link.lastContactNanos(), sentNanos, nowNanos);
        }
        end();
        return false;
    }

    /**
     * The request failed, whatever the reason; true if others have been answered for too long meanwhile. If nobody is, that is
     * an outage, of which the core knows. The time counts from an answer to others, not from the first failure: at the end
     * of an outage others may be answered a moment earlier.
     *
     * @param contactNanos when the last request that the engine answered was sent
     */
    boolean lastTooLongBesideOthers(long contactNanos, long sentNanos, long nowNanos) {
        if (nowNanos - contactNanos > timeoutNanos) {
            end();
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
    void end() {
        failing = false;
    }
}
