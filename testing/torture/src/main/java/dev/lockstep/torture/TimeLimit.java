package dev.lockstep.torture;

import dev.lockstep.servers.ServerException;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * A time limit that does not count the time for which this process or a worker was paused, because a process without a
 * processor cannot take a lock that is granted. For one thread.
 */
final class TimeLimit {
    private final long start = System.nanoTime();
    private final long nanos;
    private final List<Hand> hands;
    private final long[] stalledAtStart;

    private TimeLimit(Duration duration, List<Hand> hands) {
        this.nanos = duration.toNanos();
        this.hands = hands;
        this.stalledAtStart = stalls();
    }

    /** Begins to count. */
    static TimeLimit of(Duration duration, List<Hand> hands) {
        return new TimeLimit(duration, hands);
    }

    /** Waits for a condition; false if it did not become true in the rest of the time. */
    boolean await(BooleanSupplier condition) {
        long left = left(0);
        while (!Parking.until(condition, Duration.ofNanos(left))) {
            left = left(mostStalled());
            if (left == 0) {
                return false;
            }
        }
        return true;
    }

    private long left(long stalled) {
        return Math.max(0, nanos + stalled - (System.nanoTime() - start));
    }

    /** The longest pause of any worker: they are paused side by side. */
    private long mostStalled() {
        long[] now = stalls();
        long most = 0;
        for (int i = 0; i < now.length; i++) {
            most = Math.max(most, now[i] - stalledAtStart[i]);
        }
        return most;
    }

    private long[] stalls() {
        long[] stalls = new long[hands.size() + 1];
        for (int i = 0; i < hands.size(); i++) {
            stalls[i] = stalled(hands.get(i));
        }
        stalls[hands.size()] = Stalls.nanos();
        return stalls;
    }

    /** How long a worker was paused; nothing if it does not say. */
    static long stalled(Hand hand) {
        try {
            return hand.stalledNanos();
        } catch (ServerException e) {
            return 0;
        }
    }
}
