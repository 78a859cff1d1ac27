package dev.lockstep.redis;

import java.time.Duration;

/**
 * What can be chosen.
 *
 * @param queue whether waiters queue at the server; without, it is the textbook's lock
 * @param replicas how many replicas must confirm a grant
 * @param waiterExpiry how long a waiter keeps its place after its client died
 * @param eviction whether a server may be used that removes locks when its memory is short
 */
record RedisOptions(boolean queue, int replicas, Duration waiterExpiry, boolean eviction) {
    static final RedisOptions DEFAULTS = new RedisOptions(true, 0, Duration.ofSeconds(5), false);
    static final Duration LEAST_WAITER_EXPIRY = Duration.ofMillis(500);

    RedisOptions withQueue(boolean chosen) {
        return new RedisOptions(chosen, replicas, waiterExpiry, eviction);
    }

    RedisOptions withReplicas(int chosen) {
        return new RedisOptions(queue, chosen, waiterExpiry, eviction);
    }

    RedisOptions withWaiterExpiry(Duration chosen) {
        if (chosen.compareTo(LEAST_WAITER_EXPIRY) < 0) {
            throw new IllegalArgumentException("waiterExpiry must be at least " + LEAST_WAITER_EXPIRY + ": " + chosen);
        }
        return new RedisOptions(queue, replicas, chosen, eviction);
    }

    RedisOptions withEviction(boolean accepted) {
        return new RedisOptions(queue, replicas, waiterExpiry, accepted);
    }
}
