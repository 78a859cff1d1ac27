package dev.lockstep.redis;

import java.time.Duration;

/**
 * How long a server has refused a request that is made again and again. A failover takes a moment, and is borne; a server
 * that stays a replica is an error, which nobody else would notice, because the server answers. Guarded by its user.
 */
final class Refusals {
    private final long borneNanos;
    private boolean refused;
    private long sinceNanos;

    /** Refusals of a client's requests: told before the core gives up, which knows nothing of them. */
    Refusals(Duration requestTimeout) {
        this.borneNanos = requestTimeout.toNanos() / 4 * 3;
    }

    /** The request failed; true if it has been refused, and nothing else, for so long that it is not to be tried again. */
    boolean lastTooLong(Failure failure, long nowNanos, long untilNextTryNanos) {
        if (!failure.isRefusal()) {
            end();
            return false;
        }
        if (!refused) {
            refused = true;
            sinceNanos = nowNanos;
        }
        return nowNanos + untilNextTryNanos - sinceNanos >= borneNanos;
    }

    /** The request was answered. */
    void end() {
        refused = false;
    }
}
