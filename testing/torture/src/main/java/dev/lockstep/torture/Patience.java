package dev.lockstep.torture;

import dev.lockstep.servers.ServerException;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * A time to wait in, in which it does not count when this process or a worker stands still: who is not given a processor
 * cannot take a lock that is granted. For one thread.
 */
final class Patience {
    private final long start = System.nanoTime();
    private final long nanos;
    private final List<Hand> hands;
    private final long[] stalledAtStart;

    private Patience(Duration duration, List<Hand> hands) {
        this.nanos = duration.toNanos();
        this.hands = hands;
        this.stalledAtStart = stalls();
    }

    /** Begins to count. */
    static Patience of(Duration duration, List<Hand> hands) {
        return new Patience(duration, hands);
    }

    /** Waits for a condition; false if it did not come true in what is left of the time. */
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

    /** How long the one stood still that did longest: they do so side by side. */
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

    /** How long a worker stood still; nothing if it does not say. */
    static long stalled(Hand hand) {
        try {
            return hand.stalledNanos();
        } catch (ServerException e) {
            return 0;
        }
    }
}
