package dev.lockstep.memory;

import dev.lockstep.LossReason;
import dev.lockstep.spi.Renewable;

/**
 * The time for which a client counts as alive. Its holds and waits end with it.
 *
 * <p>It has two sides that agree only as far as messages carry: the engine's, which is open until the engine ends it or
 * its ttl has passed there, and the client's, which is valid for less. Safe for use by many threads.
 */
final class Session implements Renewable {
    private enum State {
        NEW,
        OPEN,
        ENDED
    }

    private final MemoryBackend backend;
    private final long ttlNanos;

    private volatile State state = State.NEW; // written under this
    private long expiryNanos; // guarded by this; the engine's side
    private volatile long validUntilNanos; // written under this; the client's side

    Session(MemoryBackend backend, long ttlNanos, long validUntilNanos) {
        this.backend = backend;
        this.ttlNanos = ttlNanos;
        this.validUntilNanos = validUntilNanos;
    }

    MemoryBackend backend() {
        return backend;
    }

    boolean isAlive() {
        return state == State.OPEN;
    }

    /** Opens it in the engine; false if it has ended before. */
    synchronized boolean open(long now) {
        expiryNanos = now + ttlNanos;
        if (state == State.NEW) {
            state = State.OPEN;
        }
        return isAlive();
    }

    /** Renews it in the engine; false if it has ended. One whose opening is still on its way has not. */
    synchronized boolean renew(long now) {
        expiryNanos = now + ttlNanos;
        return state != State.ENDED;
    }

    /** When the engine ends it if it is not renewed. */
    synchronized long expiryNanos() {
        return expiryNanos;
    }

    /** Ends it in the engine if its time is over; true if it is this call that ended it. */
    synchronized boolean endIfExpired(long now) {
        return now - expiryNanos >= 0 && end();
    }

    /** Ends it in the engine; true if it is this call that ended it. */
    synchronized boolean end() {
        boolean wasOpen = state == State.OPEN;
        state = State.ENDED;
        return wasOpen;
    }

    @Override
    public long validUntilNanos() {
        return validUntilNanos;
    }

    @Override
    public synchronized void renewedUntil(long deadlineNanos) {
        if (deadlineNanos - validUntilNanos > 0) {
            validUntilNanos = deadlineNanos;
        }
    }

    @Override
    public void signalLost(LossReason reason) {
        backend.sessionLost(this);
    }
}
