package dev.lockstep.torture;

import dev.lockstep.servers.ServerException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Ways to let time pass. */
final class Parking {
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    private Parking() {}

    static void forNanos(long nanos) {
        until(() -> false, nanos);
    }

    static void forTime(Duration time) {
        forNanos(time.toNanos());
    }

    /** Waits for a condition; false if it did not come true in time. */
    static boolean until(BooleanSupplier condition, Duration patience) {
        return until(condition, patience.toNanos());
    }

    /** Waits for a condition without which it makes no sense to continue. */
    static void require(String what, BooleanSupplier condition, Duration patience) {
        if (!until(condition, patience)) {
            throw new ServerException(what + ": not within " + patience);
        }
    }

    private static boolean until(BooleanSupplier condition, long patienceNanos) {
        long deadline = System.nanoTime() + patienceNanos;
        while (!condition.getAsBoolean()) {
            long left = deadline - System.nanoTime();
            if (left <= 0) {
                return false;
            }
            LockSupport.parkNanos(Math.min(left, LOOK_NANOS));
        }
        return true;
    }
}
