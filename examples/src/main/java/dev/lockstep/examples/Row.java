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

    /**
     * Reads, and from then on refuses all earlier holders of the lock: none of them can write between this read and the
     * write that follows. In SQL: {@code UPDATE … SET token = ? WHERE token <= ?}, and then {@code SELECT}.
     *
     * @throws IllegalStateException if the token is older than one seen before
     */
    int read(long token) {
        LockSupport.parkNanos(ROUND_TRIP_NANOS);
        synchronized (this) {
            see(token);
            return value;
        }
    }

    /** Writes without a check. */
    void write(int newValue) {
        LockSupport.parkNanos(ROUND_TRIP_NANOS);
        synchronized (this) {
            value = newValue;
        }
    }

    /**
     * Writes unless a newer holder of the lock has been here before. In SQL: {@code UPDATE … SET value = ?, token = ?
     * WHERE token <= ?}.
     *
     * @throws IllegalStateException if the token is older than one seen before
     */
    void write(int newValue, long token) {
        LockSupport.parkNanos(ROUND_TRIP_NANOS);
        synchronized (this) {
            see(token);
            value = newValue;
        }
    }

    private void see(long token) {
        if (token < newestToken) {
            throw new IllegalStateException("stale holder: token " + token + " after token " + newestToken);
        }
        newestToken = token;
    }
}
