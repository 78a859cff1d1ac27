package dev.lockstep.redis;

import java.time.Duration;

/**
 * What can be chosen.
 *
 * @param queue whether waiters queue at the server; without, it is the textbook's lock
 * @param replicas how many replicas must confirm a grant
 * @param waiterExpiry how long a waiter keeps its place after its client died
 */
record RedisOptions(boolean queue, int replicas, Duration waiterExpiry) {
    static final RedisOptions DEFAULTS = new RedisOptions(true, 0, Duration.ofSeconds(5));
    static final Duration LEAST_WAITER_EXPIRY = Duration.ofMillis(500);

    RedisOptions withQueue(boolean chosen) {
        return new RedisOptions(chosen, replicas, waiterExpiry);
    }

    RedisOptions withReplicas(int chosen) {
        return new RedisOptions(queue, chosen, waiterExpiry);
    }

    RedisOptions withWaiterExpiry(Duration chosen) {
        if (chosen.compareTo(LEAST_WAITER_EXPIRY) < 0) {
            throw new IllegalArgumentException("waiterExpiry must be at least " + LEAST_WAITER_EXPIRY + ": " + chosen);
        }
        return new RedisOptions(queue, replicas, chosen);
    }
}
