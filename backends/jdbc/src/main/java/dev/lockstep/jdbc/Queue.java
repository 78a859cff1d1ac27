package dev.lockstep.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What concerns more than one row of a lock: waiting, sharing, and leaving. Each operation is one transaction that locks
 * the lock's row first and then reads its claims: what it reads is what the one before it left, and tickets are in the
 * order of commits. Safe for use by many threads.
 */
final class Queue {
    private final Sql sql;
    private final Push push;

    Queue(Sql sql, Push push) {
        this.sql = sql;
        this.push = push;
    }

    /** Changes a lock. */
    @FunctionalInterface
    private interface Change<T> {
        T apply(Link link, LockState state) throws SQLException;
    }

    /** Runs a change with the lock's row locked; empty if there is no row. */
    private <T> Optional<T> locked(Link link, String key, Change<T> change) throws SQLException {
        return link.transaction(inside -> {
            Optional<LockState> row = inside.query(sql.lockRow, Queue::readRow, key);
            if (row.isEmpty()) {
                return Optional.empty();
            }
            LockState state = inside.query(sql.readClaims, rows -> readClaims(rows, row.get()), key);
            return Optional.of(change.apply(inside, state));
        });
    }

    private static Optional<LockState> readRow(ResultSet rows) throws SQLException {
        return rows.next()
                ? Optional.of(new LockState(rows.getString(2), rows.getString(3), rows.getLong(6)))
                : Optional.empty();
    }

    private static LockState readClaims(ResultSet rows, LockState state) throws SQLException {
        while (rows.next()) {
            LockState.Row row =
                    new LockState.Row(rows.getString(1), rows.getString(2), rows.getInt(3) != 0, rows.getLong(5));
            (rows.getInt(4) != 0 ? state.held : state.waiting).add(row);
        }
        return state;
    }

    private void store(Link link, String key, LockState state) throws SQLException {
        link.update(sql.store, state.owner, state.ownerSession, state.held.size(), state.head(), state.tickets, key);
        hintNext(link, state);
    }

    private void hintNext(Link link, LockState state) throws SQLException {
        String next = state.next();
        if (next != null) {
            push.send(link, Push.Message.HINT, next);
        }
    }

    /** Grants a claim or lets it wait, for the first time or again; empty if the lock has no row. */
    Optional<Answer> arrive(Link link, Ask ask, String session) throws SQLException {
        return locked(link, ask.key(), (inside, state) -> {
            LockState.Row before = state.findHeld(ask.claim());
            if (before != null) {
                return Answer.granted(before.token(), isWanted(ask, state)); // an answer was lost
            }
            if (state.mayTake(ask.claim(), ask.shared(), ask.mayBarge())) {
                return ask.shared() ? share(inside, ask, session, state) : take(inside, ask, session, state);
            }
            if (ask.mayWait()) {
                await(inside, ask, session, state);
                return Answer.WAITING;
            }
            return Answer.BUSY;
        });
    }

    private Answer take(Link link, Ask ask, String session, LockState state) throws SQLException {
        boolean waited = state.find(ask.claim()) != null;
        state.remove(ask.claim());
        long token = drawn(
                link.draw(sql.takeQueued, ask.claim(), session, ask.thread(), ask.sticky(), state.head(), ask.key()));
        if (waited) {
            link.update(sql.deleteClaim, ask.claim());
        }
        return Answer.granted(token, isWanted(ask, state));
    }

    private Answer share(Link link, Ask ask, String session, LockState state) throws SQLException {
        boolean waited = state.find(ask.claim()) != null;
        state.remove(ask.claim());
        state.held.add(new LockState.Row(ask.claim(), session, true, 0));
        long token = drawn(link.draw(sql.drawShared, state.held.size(), state.head(), ask.key()));
        if (waited) {
            link.update(sql.holdClaim, token, session, ask.claim());
        } else {
            insert(link, ask, session, 0, true, token);
        }
        hintNext(link, state); // readers are woken one by one, each by the one before it
        return Answer.granted(token, isWanted(ask, state));
    }

    private static long drawn(Dialect.@Nullable Drawn drawn) throws SQLException {
        if (drawn == null) {
            throw new SQLException("A row that was locked is gone.", "40001");
        }
        return drawn.token();
    }

    private static boolean isWanted(Ask ask, LockState state) {
        for (LockState.Row waiter : state.waiting) {
            if (!ask.isOfSameClient(waiter.claim())) {
                return true;
            }
        }
        return false;
    }

    private void await(Link link, Ask ask, String session, LockState state) throws SQLException {
        LockState.Row before = state.find(ask.claim());
        if (before == null) {
            state.tickets++;
            state.waiting.add(new LockState.Row(ask.claim(), session, ask.shared(), 0));
            insert(link, ask, session, state.tickets, false, null);
            store(link, ask.key(), state);
        } else if (!before.session().equals(session)) {
            link.update(sql.moveClaim, session, ask.claim());
        }
        for (String holder : state.holders()) {
            if (!ask.isOfSameClient(holder)) {
                push.send(link, Push.Message.WANTED, holder);
            }
        }
    }

    private void insert(Link link, Ask ask, String session, long ticket, boolean held, @Nullable Long token)
            throws SQLException {
        int shared = held || ask.shared() ? 1 : 0;
        link.update(
                sql.insertClaim,
                ask.claim(),
                ask.key(),
                ticket,
                shared,
                held ? 1 : 0,
                token == null ? Long.valueOf(0) : token,
                session,
                ask.thread(),
                ask.sticky());
    }

    /**
     * Makes a lock forget a claim, whether it holds or waits.
     *
     * @return true if it held
     */
    boolean leave(Link link, String key, String claim) throws SQLException {
        return locked(link, key, (inside, state) -> {
                    boolean owns = claim.equals(state.owner);
                    boolean holds = owns || state.findHeld(claim) != null;
                    if (owns) {
                        state.free();
                    }
                    if (state.find(claim) != null) {
                        state.remove(claim);
                        inside.update(sql.deleteClaim, claim);
                    } else if (!owns) {
                        return false;
                    }
                    store(inside, key, state);
                    return holds;
                })
                .orElse(false);
    }

    /**
     * Makes the owner one of those who hold the lock together, with its token.
     *
     * @return false if it is not the owner
     */
    boolean downgrade(Link link, Ask ask, String session, long token) throws SQLException {
        return locked(link, ask.key(), (inside, state) -> {
                    if (state.findHeld(ask.claim()) != null) {
                        return true; // an answer was lost
                    }
                    if (!ask.claim().equals(state.owner)) {
                        return false;
                    }
                    state.free();
                    state.held.add(new LockState.Row(ask.claim(), session, true, token));
                    insert(inside, ask, session, 0, true, token);
                    store(inside, ask.key(), state);
                    return true;
                })
                .orElse(false);
    }

    /** Makes a lock forget a session that is known to be gone. */
    void forget(Link link, String key, String session) throws SQLException {
        locked(link, key, (inside, state) -> {
            if (session.equals(state.ownerSession)) {
                state.free();
            }
            state.held.removeIf(row -> row.session().equals(session));
            state.waiting.removeIf(row -> row.session().equals(session));
            inside.update(sql.deleteClaimsOfSession, key, session);
            store(inside, key, state);
            return true;
        });
    }

    /** Takes a lock away from all who hold it. */
    boolean revoke(Link link, String key) throws SQLException {
        return locked(link, key, (inside, state) -> {
                    if (state.isFree()) {
                        return false;
                    }
                    boolean anyAlive = false;
                    if (state.ownerSession != null) {
                        anyAlive = inside.update(sql.revoke, state.ownerSession) > 0;
                    }
                    for (LockState.Row row : state.held) {
                        anyAlive |= inside.update(sql.revoke, row.session()) > 0;
                    }
                    for (String holder : state.holders()) {
                        push.send(inside, Push.Message.REVOKED, holder);
                    }
                    state.free();
                    state.held.clear();
                    inside.update(sql.deleteHeldClaims, key);
                    store(inside, key, state);
                    return anyAlive;
                })
                .orElse(false);
    }
}
