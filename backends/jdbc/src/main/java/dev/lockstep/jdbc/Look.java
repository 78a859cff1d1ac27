package dev.lockstep.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A waiter's view of a lock, and whether it was queued by the same statement. A glance does not read sessions, so it
 * does not notice dead ones.
 *
 * @param headTicket that of the head; 0 if there is none
 */
record Look(
        @Nullable String owner,
        @Nullable String ownerSession,
        @Nullable Long ownerMicrosLeft,
        int readers,
        @Nullable String head,
        boolean headShared,
        @Nullable String deadSession,
        boolean queued,
        int limit,
        long headTicket) {
    /** A session that blocks others and is not alive, as far as was seen. */
    @Nullable
    String dead() {
        boolean ownerDead = ownerSession != null && (ownerMicrosLeft == null || ownerMicrosLeft <= 0);
        return ownerDead ? ownerSession : deadSession;
    }

    boolean isHeld() {
        return owner != null || readers > 0;
    }

    private boolean isUnused() {
        return !isHeld() && head == null;
    }

    /** Whether the name is in use in another way than a claim asks for. */
    boolean refuses(Ask ask) {
        return limit != ask.limit() && !isUnused();
    }

    /** Whether a claim could have the lock, as far as was seen. */
    boolean mayTake(Ask ask) {
        if (isUnused() || limit != ask.limit()) {
            return isUnused();
        }
        if (owner != null) {
            return owner.equals(ask.claim()); // an answer was lost
        }
        boolean first = head == null || head.equals(ask.claim());
        if (limit > 0) {
            return first && readers + ask.permits() <= limit;
        }
        return ask.shared() ? first || headShared : readers == 0 && (first || ask.mayBarge());
    }

    static Optional<Look> read(ResultSet rows) throws SQLException {
        if (!rows.next()) {
            return Optional.empty();
        }
        long left = rows.getLong(3);
        Long ownerMicrosLeft = rows.wasNull() ? null : left;
        return Optional.of(new Look(
                rows.getString(1),
                rows.getString(2),
                ownerMicrosLeft,
                rows.getInt(4),
                rows.getString(5),
                rows.getInt(6) != 0,
                rows.getString(7),
                rows.getInt(8) != 0,
                rows.getInt(9),
                rows.getLong(10)));
    }
}
