package dev.lockstep.redis.internal;

import java.time.Duration;

/**
 * The settings.
 *
 * @param queue whether waiters queue on the server; otherwise it is the textbook's lock
 * @param replicas how many replicas must confirm a grant
 * @param waiterExpiry how long a waiter keeps its place after its client died
 * @param eviction whether a server may be used that removes locks when its memory is short
 */
public record Settings(boolean queue, int replicas, Duration waiterExpiry, boolean eviction) {
    public static final Settings DEFAULTS = new Settings(true, 0, Duration.ofSeconds(5), false);
    static final Duration LEAST_WAITER_EXPIRY = Duration.ofMillis(500);

    public Settings withQueue(boolean chosen) {
        return new Settings(chosen, replicas, waiterExpiry, eviction);
    }

    public Settings withReplicas(int chosen) {
        return new Settings(queue, chosen, waiterExpiry, eviction);
    }

    public Settings withWaiterExpiry(Duration chosen) {
        if (chosen.compareTo(LEAST_WAITER_EXPIRY) < 0) {
            throw new IllegalArgumentException("waiterExpiry must be at least " + LEAST_WAITER_EXPIRY + ": " + chosen);
        }
        return new Settings(queue, replicas, chosen, eviction);
    }

    public Settings withEviction(boolean accepted) {
        return new Settings(queue, replicas, waiterExpiry, accepted);
    }
}
