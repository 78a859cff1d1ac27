package dev.lockstep.examples;

import java.util.concurrent.locks.LockSupport;

/**
 * A number in a database, as far as a lock is concerned: reading and writing it are two steps, each takes a while, and
 * writers are in each other's way. Safe for use by many threads in the sense that a database is: no step is torn, but
 * two steps are not one.
 */
final class Row {
    private static final long ROUND_TRIP_NANOS = 50_000;

    private int value;
    private long newestToken;

    Row(int value) {
        this.value = value;
    }

    int read() {
        LockSupport.parkNanos(ROUND_TRIP_NANOS);
        synchronized (this) {
            return value;
        }
    }

    /** Writes whatever it is told. */
    void write(int newValue) {
        LockSupport.parkNanos(ROUND_TRIP_NANOS);
        synchronized (this) {
            value = newValue;
        }
    }

    /**
     * Writes unless a newer holder of the lock has written before. In SQL: {@code UPDATE … SET value = ?, token = ?
     * WHERE token <= ?}.
     *
     * @throws IllegalStateException if the token is older than one seen before
     */
    void write(int newValue, long token) {
        LockSupport.parkNanos(ROUND_TRIP_NANOS);
        synchronized (this) {
            if (token < newestToken) {
                throw new IllegalStateException("stale write: token " + token + " after token " + newestToken);
            }
            newestToken = token;
            value = newValue;
        }
    }
}
