package dev.lockstep.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * The operations on more than one row of a lock: waiting, sharing, and leaving. Each is one transaction that locks the
 * lock's row first and then reads its claims: it sees the result of the transaction before it, and tickets are in the
 * order of commits. Safe for use by many threads.
 */
final class Queue {
    private final Sql sql;
    private final Push push;

    Queue(Sql sql, Push push) {
        this.sql = sql;
        this.push = push;
    }

    /** Changes a lock: adds the statements to send, and returns the answer that is known once they were sent. */
    @FunctionalInterface
    private interface Change<T> {
        Result<T> apply(Batch writes, LockState state);
    }

    /** An answer that is known when everything was written. */
    @FunctionalInterface
    private interface Result<T> {
        T get() throws SQLException;
    }

    /** Runs a change with the lock's row locked; empty if there is no row. */
    private <T> Optional<T> locked(Link link, String key, Change<T> change) throws SQLException {
        return link.transaction(inside -> {
            Batch reads = new Batch();
            Batch.Call<Optional<LockState>> row = reads.query(sql.lockRow, Queue::readRow, key);
            Batch.Call<List<Claimed>> claims = reads.query(sql.readClaims, Queue::readClaims, key);
            inside.begin(reads);
            Batch writes = new Batch();
            Result<T> result = null;
            if (row.answer().isPresent()) {
                LockState state = row.answer().get();
                claims.answer().forEach(claim -> (claim.held() ? state.held : state.waiting).add(claim.row()));
                result = change.apply(writes, state);
            }
            inside.commit(writes);
            return result == null ? Optional.empty() : Optional.of(result.get());
        });
    }

    private static Optional<LockState> readRow(ResultSet rows) throws SQLException {
        return rows.next()
                ? Optional.of(new LockState(
                        rows.getLong(1), rows.getString(2), rows.getString(3), rows.getLong(6), rows.getInt(7)))
                : Optional.empty();
    }

    /** A row of the claims, and whether it holds. */
    private record Claimed(LockState.Row row, boolean held) {}

    private static List<Claimed> readClaims(ResultSet rows) throws SQLException {
        List<Claimed> claims = new ArrayList<>();
        while (rows.next()) {
            LockState.Row row = new LockState.Row(
                    rows.getString(1),
                    rows.getString(2),
                    rows.getInt(3) != 0,
                    rows.getLong(5),
                    rows.getInt(6),
                    Slots.read(rows.getString(7)),
                    rows.getLong(8));
            claims.add(new Claimed(row, rows.getInt(4) != 0));
        }
        return claims;
    }

    private void store(Batch writes, String key, LockState state) {
        writes.update(
                sql.store,
                state.owner,
                state.ownerSession,
                state.readers(),
                state.head(),
                state.tickets,
                state.isUnused() ? 0 : state.limit,
                key);
        hintNext(writes, state);
    }

    private void hintNext(Batch writes, LockState state) {
        String next = state.next();
        if (next != null) {
            push.send(writes, Push.Message.HINT, next);
        }
    }

    /** Grants a claim or lets it wait, for the first time or again; empty if the lock has no row. */
    Optional<Answer> arrive(Link link, Ask ask, String session) throws SQLException {
        return locked(link, ask.key(), (writes, state) -> {
            LockState.Row before = state.findHeld(ask.claim());
            if (before != null) {
                return () -> Answer.granted(before.token(), isWanted(ask, state), before.slots()); // an answer was lost
            }
            if (state.isUnused()) {
                state.limit = ask.limit();
            } else if (state.limit != ask.limit()) {
                return () -> Answer.refused(state.limit);
            }
            if (state.mayTake(ask)) {
                List<Integer> slots = ask.limit() > 0 ? Slots.lowest(state.held, ask.permits()) : List.of();
                Batch.Call<Dialect.Drawn> drawn =
                        ask.shared() ? share(writes, ask, session, state, slots) : take(writes, ask, session, state);
                return () -> Answer.granted(drawn.answer().token(), isWanted(ask, state), slots);
            }
            if (ask.mayWait()) {
                LockState.Row row = await(writes, ask, session, state);
                Answer.Place place = new Answer.Place(row.ticket(), state.waiting.indexOf(row));
                return () -> Answer.waiting(place);
            }
            return () -> Answer.BUSY;
        });
    }

    private Batch.Call<Dialect.Drawn> take(Batch writes, Ask ask, String session, LockState state) {
        boolean waited = state.find(ask.claim()) != null;
        state.remove(ask.claim());
        if (waited) {
            writes.update(sql.deleteClaim, ask.claim());
        }
        return writes.draw(sql.takeQueued, ask.claim(), session, ask.thread(), ask.sticky(), state.head(), ask.key());
    }

    private Batch.Call<Dialect.Drawn> share(
            Batch writes, Ask ask, String session, LockState state, List<Integer> slots) {
        boolean waited = state.find(ask.claim()) != null;
        state.remove(ask.claim());
        state.held.add(LockState.Row.held(ask, session, 0, slots));
        Batch.Call<Dialect.Drawn> drawn =
                writes.draw(sql.drawShared, state.readers(), state.head(), ask.limit(), ask.key());
        if (waited) {
            writes.update(sql.holdClaim, ask.key(), session, Slots.write(slots), ask.claim());
        } else {
            insertHeld(writes, ask, session, slots);
        }
        hintNext(writes, state); // readers are woken one by one, each by the one before it
        return drawn;
    }

    private static boolean isWanted(Ask ask, LockState state) {
        for (LockState.Row waiter : state.waiting) {
            if (!ask.isOfSameClient(waiter.claim())) {
                return true;
            }
        }
        return false;
    }

    private LockState.Row await(Batch writes, Ask ask, String session, LockState state) {
        LockState.Row row = state.find(ask.claim());
        if (row == null) {
            state.tickets++;
            row = LockState.Row.waiting(ask, session, state.tickets);
            state.waiting.add(row);
            writes.update(
                    sql.insertClaim,
                    ask.claim(),
                    ask.key(),
                    state.tickets,
                    ask.shared() ? 1 : 0,
                    session,
                    ask.thread(),
                    ask.sticky(),
                    ask.permits());
            store(writes, ask.key(), state);
        } else if (!row.session().equals(session)) {
            writes.update(sql.moveClaim, session, ask.claim());
        }
        for (LockState.Row holder : state.holders()) {
            if (!ask.isOfSameClient(holder.claim())) {
                push.send(writes, Push.Message.WANTED, holder.claim());
            }
        }
        return row;
    }

    /** Adds a claim that holds together with others, with the lock's token. */
    private void insertHeld(Batch writes, Ask ask, String session, List<Integer> slots) {
        writes.update(
                sql.insertHeld,
                ask.claim(),
                session,
                ask.thread(),
                ask.sticky(),
                ask.permits(),
                Slots.write(slots),
                ask.key());
    }

    /**
     * Releases a claim that holds together with others. No part of it depends on a read, so that it is sent as one
     * message where the driver can do that. The row is locked first all the same: the statements after it then see the
     * result of the transaction before.
     *
     * @return true if it held
     */
    boolean release(Link link, String key, String claim) throws SQLException {
        return link.transaction(inside -> {
            Batch batch = new Batch();
            batch.query(sql.lockRow, ResultSet::next, key);
            batch.update(sql.releaseShared, claim, key);
            Batch.Call<Boolean> held = batch.update(sql.deleteHeld, claim);
            push.hintHead(batch, key);
            inside.run(batch);
            return held.answer();
        });
    }

    /** The part of a lock's state that a removed claim had. */
    enum Removed {
        NOTHING,
        WAITER,
        HOLDER
    }

    /**
     * Makes a lock forget a claim, whether it holds or waits.
     *
     * @return true if it held
     */
    boolean leave(Link link, String key, String claim) throws SQLException {
        return remove(link, key, claim) == Removed.HOLDER;
    }

    /** Makes a lock forget a claim, whether it holds or waits, and says which. */
    Removed remove(Link link, String key, String claim) throws SQLException {
        return locked(link, key, (writes, state) -> {
                    boolean owns = claim.equals(state.owner);
                    boolean holds = owns || state.findHeld(claim) != null;
                    if (owns) {
                        state.free();
                    }
                    if (state.find(claim) != null) {
                        state.remove(claim);
                        writes.update(sql.deleteClaim, claim);
                    } else if (!owns) {
                        return () -> Removed.NOTHING;
                    }
                    store(writes, key, state);
                    return () -> holds ? Removed.HOLDER : Removed.WAITER;
                })
                .orElse(Removed.NOTHING);
    }

    /**
     * Makes the owner a shared holder of the lock, with its token.
     *
     * @return false if it is not the owner
     */
    boolean downgrade(Link link, Ask ask, String session, long token) throws SQLException {
        return locked(link, ask.key(), (writes, state) -> {
                    if (state.findHeld(ask.claim()) != null) {
                        return () -> true; // an answer was lost
                    }
                    if (!ask.claim().equals(state.owner)) {
                        return () -> false;
                    }
                    state.free();
                    state.held.add(LockState.Row.held(ask, session, token, List.of()));
                    insertHeld(writes, ask, session, List.of());
                    writes.update(sql.moveWait, ask.key(), ask.claim());
                    store(writes, ask.key(), state);
                    return () -> true;
                })
                .orElse(false);
    }

    /** Whether a claim holds a lock, alone or with others. */
    boolean holds(Link link, String key, String claim) throws SQLException {
        return locked(link, key, (writes, state) -> {
                    boolean holds = claim.equals(state.owner) || state.findHeld(claim) != null;
                    return () -> holds;
                })
                .orElse(false);
    }

    /** Makes a lock forget a session that is known to be gone. */
    void forget(Link link, String key, String session) throws SQLException {
        locked(link, key, (writes, state) -> {
            if (session.equals(state.ownerSession)) {
                state.free();
            }
            state.held.removeIf(row -> row.session().equals(session));
            state.waiting.removeIf(row -> row.session().equals(session));
            writes.update(sql.deleteClaimsOfSession, key, session);
            store(writes, key, state);
            return () -> true;
        });
    }

    /** Releases a lock by force for some of its holders. */
    boolean revoke(Link link, String key, Predicate<LockState.Row> which) throws SQLException {
        return locked(link, key, (writes, state) -> {
                    List<LockState.Row> ended =
                            state.holders().stream().filter(which).toList();
                    if (ended.isEmpty()) {
                        return () -> false;
                    }
                    List<Batch.Call<Boolean>> sessions = new ArrayList<>();
                    for (LockState.Row row : ended) {
                        sessions.add(writes.update(sql.ofSessions.revoke, row.session()));
                        push.send(writes, Push.Message.REVOKED, row.claim());
                        if (row.claim().equals(state.owner)) {
                            state.free();
                        } else {
                            state.remove(row.claim());
                            writes.update(sql.deleteClaim, row.claim());
                        }
                    }
                    store(writes, key, state);
                    return () -> anyAlive(sessions);
                })
                .orElse(false);
    }

    private static boolean anyAlive(List<Batch.Call<Boolean>> sessions) throws SQLException {
        for (Batch.Call<Boolean> session : sessions) {
            if (session.answer()) {
                return true;
            }
        }
        return false;
    }
}
