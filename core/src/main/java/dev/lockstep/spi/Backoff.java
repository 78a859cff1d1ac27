package dev.lockstep.spi;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.random.RandomGenerator;

/**
 * The waits between tries of a failed request: doubling from {@code min} to {@code max}, with jitter.
 *
 * @param min the base of the first wait
 * @param max the base that no wait exceeds
 */
public record Backoff(Duration min, Duration max) {
    /**
     * The wait after a failure.
     *
     * @param failures how many tries have failed in a row; 1 after the first
     * @return a random time between half the base and the base
     */
    public Duration delay(int failures) {
        return delay(failures, ThreadLocalRandom.current());
    }

    /**
     * The wait after a failure, with the caller's source of randomness.
     *
     * @param failures how many tries have failed in a row; 1 after the first
     * @param random decides the jitter
     * @return a time between half the base and the base
     */
    public Duration delay(int failures, RandomGenerator random) {
        int doublings = Math.min(Math.max(failures - 1, 0), 62);
        // Compared before it is shifted, because the shift may overflow.
        boolean reached = min.toNanos() > max.toNanos() >> doublings;
        long base = reached ? max.toNanos() : min.toNanos() << doublings;
        return Duration.ofNanos(base / 2 + random.nextLong(base / 2 + 1));
    }
}
