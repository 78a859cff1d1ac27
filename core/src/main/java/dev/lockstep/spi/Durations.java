package dev.lockstep.spi;

import java.time.Duration;

/**
 * Checks durations where they are passed in, so that nothing that calculates with them can overflow later.
 *
 * <p>There are two kinds. A <em>limit</em>, such as how long to wait, may be practically endless; a longer one than
 * {@link #LONGEST_LIMIT} counts as that. A <em>timeout</em>, such as the ttl, is passed on to engines and drivers,
 * which count in milliseconds: it is refused if it is out of their range.
 *
 * <p>Safe for use by many threads.
 */
public final class Durations {
    /** Practically no limit, and far from any overflow of nanoseconds. */
    public static final Duration LONGEST_LIMIT = Duration.ofDays(36_500);

    /** The longest timeout: its milliseconds fit an {@code int}. */
    public static final Duration LONGEST_TIMEOUT = Duration.ofDays(20);

    private static final Duration SHORTEST_TIMEOUT = Duration.ofMillis(1);

    private Durations() {}

    /**
     * Checks a limit.
     *
     * @param limit any duration; {@code ChronoUnit.FOREVER.getDuration()} for none
     * @param what its name, for the message
     * @return the limit, at most {@link #LONGEST_LIMIT}
     * @throws IllegalArgumentException if it is not positive
     */
    public static Duration requireLimit(Duration limit, String what) {
        return atMost(requirePositive(limit, what), LONGEST_LIMIT);
    }

    /**
     * Checks a timeout.
     *
     * @param timeout from one millisecond to {@link #LONGEST_TIMEOUT}
     * @param what its name, for the message
     * @return the timeout
     * @throws IllegalArgumentException if it is shorter or longer
     */
    public static Duration requireTimeout(Duration timeout, String what) {
        requireAtMost(requirePositive(timeout, what), LONGEST_TIMEOUT, what);
        if (timeout.compareTo(SHORTEST_TIMEOUT) < 0) {
            throw new IllegalArgumentException(what + " must be at least a millisecond: " + timeout);
        }
        return timeout;
    }

    /**
     * Checks a duration that has an upper bound, and for which the engine has a lower one.
     *
     * @param duration a positive duration
     * @param longest its upper bound
     * @param what its name, for the message
     * @return the duration
     * @throws IllegalArgumentException if it is not positive, or longer
     */
    public static Duration requireAtMost(Duration duration, Duration longest, String what) {
        if (requirePositive(duration, what).compareTo(longest) > 0) {
            throw new IllegalArgumentException(what + " must be at most " + longest.toDays() + " days: " + duration);
        }
        return duration;
    }

    /**
     * How long to wait, in nanoseconds. As {@link java.util.concurrent.locks.Lock} specifies, a time that is not positive
     * means no wait.
     *
     * @param wait any duration
     * @return from 0 to the nanoseconds of {@link #LONGEST_LIMIT}
     */
    public static long waitNanos(Duration wait) {
        return wait.isNegative() ? 0 : atMost(wait, LONGEST_LIMIT).toNanos();
    }

    private static Duration requirePositive(Duration duration, String what) {
        if (duration.isNegative() || duration.isZero()) {
            throw new IllegalArgumentException(what + " must be positive: " + duration);
        }
        return duration;
    }

    private static Duration atMost(Duration duration, Duration longest) {
        return duration.compareTo(longest) > 0 ? longest : duration;
    }
}
