package dev.lockstep.jdbc;

import dev.lockstep.LossReason;
import dev.lockstep.spi.Renewable;
import java.util.concurrent.atomic.AtomicLong;

/** One client's row in the sessions: alive until it expires, and never used again. Safe for use by many threads. */
final class Session implements Renewable {
    private final Sessions sessions;
    private final String id;
    private final AtomicLong validUntilNanos;
    private volatile boolean ended;

    Session(Sessions sessions, String id, long validUntilNanos) {
        this.sessions = sessions;
        this.id = id;
        this.validUntilNanos = new AtomicLong(validUntilNanos);
    }

    String id() {
        return id;
    }

    @Override
    public long validUntilNanos() {
        return validUntilNanos.get();
    }

    boolean isUsable(long now) {
        return !ended && validUntilNanos.get() - now > 0;
    }

    @Override
    public void renewedUntil(long deadlineNanos) {
        validUntilNanos.accumulateAndGet(deadlineNanos, (known, next) -> next - known > 0 ? next : known);
        sessions.renewed();
    }

    @Override
    public void signalLost(LossReason reason) {
        ended = true;
        sessions.lost(this, reason);
    }

    void end() {
        ended = true;
    }

    boolean isEnded() {
        return ended;
    }
}
