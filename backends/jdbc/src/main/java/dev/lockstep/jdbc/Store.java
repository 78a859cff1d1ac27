package dev.lockstep.jdbc;

import dev.lockstep.HolderInfo;
import dev.lockstep.LockInfo;
import dev.lockstep.LockPage;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** A client's operations on the tables. Safe for use by many threads. */
final class Store {
    /*
     * Overview. Three tables: sessions (who is alive), locks (who holds), claims (who waits, and who holds together).
     *
     * A free lock that nobody waits for is taken by one UPDATE of its row and released by another, each in a
     * transaction of its own. Everything else is a transaction that locks the row first (see Queue), unless the
     * database can do it in one statement (see Push).
     *
     * A lock belongs to a session, and is free when the session is gone. No statement that acquires looks at sessions,
     * because a renewal that commits late could be overlooked, and a lock that is alive be stolen. Instead, a blocked
     * claim reads the session that blocks it; ends that session if, and only if, it has expired, which the database
     * does in one atomic step that a renewal either precedes or finds done; and then, only if the session is gone,
     * makes the lock forget it. Session ids are never used again, so a session that is gone stays gone.
     */
    private static final int ROUNDS = 8;

    private final Sql sql;
    private final Push push;
    private final Queue queue;

    Store(Sql sql, Push push) {
        this.sql = sql;
        this.push = push;
        this.queue = new Queue(sql, push);
    }

    Queue queue() {
        return queue;
    }

    /**
     * Asks for a lock, for the first time or again.
     *
     * @param queued whether the claim may be in the queue; set before the claim can enter the queue. A lock must not be
     *     taken beside the queue then, because the claim would stay there.
     */
    Answer acquire(Link link, Ask ask, String session, AtomicBoolean queued) throws SQLException {
        for (int round = 0; round < ROUNDS; round++) {
            Answer answer = tryAcquire(link, ask, session, queued);
            if (answer != null) {
                return answer;
            }
        }
        throw new SQLException("Other transactions changed the row in every attempt.", "40001");
    }

    private @Nullable Answer tryAcquire(Link link, Ask ask, String session, AtomicBoolean queued) throws SQLException {
        boolean again = queued.get();
        Answer answer = again || ask.shared() ? arrive(link, ask, session, queued) : take(link, ask, session);
        if (answer != null && (answer.kind() == Answer.Kind.GRANTED || again && answer.kind() != Answer.Kind.REFUSED)) {
            // A claim asks again after a push or a look that showed a change: no other look is needed.
            return answer;
        }
        boolean enqueues = ask.mayWait() && queued.compareAndSet(false, true);
        Look look = (enqueues ? push.enqueue(link, sql, ask, session) : look(link, ask.key())).orElse(null);
        if (look == null) {
            return insert(link, ask, session);
        }
        String dead = look.dead();
        if (dead != null && evict(link, ask.key(), dead)) {
            return null;
        }
        if (answer != null) {
            return answer;
        }
        if (look.queued()) {
            return Answer.WAITING;
        }
        if (look.refuses(ask)) {
            return Answer.refused(look.limit());
        }
        return ask.mayWait() || look.mayTake(ask)
                ? queue.arrive(link, ask, session).orElse(null)
                : Answer.BUSY;
    }

    /** Acquires a lock that is free; null if it is not. */
    private @Nullable Answer take(Link link, Ask ask, String session) throws SQLException {
        Dialect.Drawn drawn = link.draw(
                ask.mayBarge() ? sql.take : sql.takeUnlessQueued,
                ask.claim(),
                session,
                ask.thread(),
                ask.sticky(),
                ask.key(),
                ask.claim());
        return drawn == null ? null : granted(ask, drawn);
    }

    /** Acquires a lock by way of its queue, or waits there; null if it has no row. */
    private @Nullable Answer arrive(Link link, Ask ask, String session, AtomicBoolean queued) throws SQLException {
        Dialect.Drawn served = ask.shared() ? null : push.serve(link, sql, ask, session);
        if (served != null) {
            return granted(ask, served);
        }
        queued.set(ask.mayWait());
        return queue.arrive(link, ask, session).orElse(null);
    }

    private static Answer granted(Ask ask, Dialect.Drawn drawn) {
        return Answer.granted(drawn.token(), drawn.head() != null && !ask.isOfSameClient(drawn.head()));
    }

    /** Makes the row of a name that was never seen; null if another was faster, or the lock is still to be taken. */
    private @Nullable Answer insert(Link link, Ask ask, String session) throws SQLException {
        try {
            if (ask.shared()) {
                link.draw(sql.insertFree, ask.key());
                return null;
            }
            Dialect.Drawn drawn =
                    link.draw(sql.insertTaken, ask.key(), ask.claim(), session, ask.thread(), ask.sticky());
            return drawn == null ? null : granted(ask, drawn);
        } catch (SQLException e) {
            if (Failure.isDuplicate(e)) {
                return null;
            }
            throw e;
        }
    }

    /** A look that reads only the columns that change when a lock changes hands. */
    Optional<Look> glance(Link link, String key) throws SQLException {
        return link.query(sql.glance, Look::read, key);
    }

    Optional<Look> look(Link link, String key) throws SQLException {
        return link.query(sql.look, Look::read, key);
    }

    /** Ends a session if it has expired, and makes a lock forget it; false if the session is alive. */
    boolean evict(Link link, String key, String session) throws SQLException {
        if (link.update(sql.ofSessions.endExpiredSession, session) == 0 && isThere(link, session)) {
            return false;
        }
        queue.forget(link, key, session);
        return true;
    }

    /**
     * Frees a lock that a claim owns alone.
     *
     * @return false if it does not
     */
    boolean release(Link link, String key, String claim) throws SQLException {
        return push.release(link, sql, key, claim);
    }

    /**
     * Lets a claim that holds belong to another session.
     *
     * @return false if it does not hold
     */
    boolean move(Link link, String key, String claim, boolean shared, String session) throws SQLException {
        return shared
                ? link.update(sql.moveClaim, session, claim) > 0
                : link.update(sql.moveOwner, session, key, claim) > 0;
    }

    /**
     * Stores, beside a claim that holds, the lock that its holder waits for, or removes that.
     *
     * @return false if it does not hold
     */
    boolean recordWait(Link link, String key, String claim, boolean shared, @Nullable String wait) throws SQLException {
        return shared
                ? link.update(sql.recordHoldersWait, wait, claim) > 0
                : link.update(sql.recordOwnersWait, wait, key, claim) > 0;
    }

    // ---------------------------------------------------------------- sessions

    /** Makes a session, unless an answer was lost and it is there. */
    boolean openSession(Link link, String id, HolderInfo who, long ttlMicros) throws SQLException {
        String client = Ask.text(who.client(), 512);
        try {
            return link.update(sql.ofSessions.openSession, id, client, Ask.text(who.host(), 255), who.pid(), ttlMicros)
                    > 0;
        } catch (SQLException e) {
            if (Failure.isDuplicate(e)) {
                return false;
            }
            throw e;
        }
    }

    /**
     * Prolongs a session; false if it is gone or has expired. Any client may take the locks of an expired one, and the
     * database may be an earlier state of itself: see Reconciler.
     */
    boolean renewSession(Link link, String id, long ttlMicros) throws SQLException {
        return link.update(sql.ofSessions.renewSession, ttlMicros, id) > 0;
    }

    /**
     * Asks whether the database could prolong a session, and changes nothing. A database that is read-only, or blocks
     * writes, must not count as one that serves.
     */
    boolean ping(Link link, String id) throws SQLException {
        return link.update(sql.ofSessions.ping, id) > 0;
    }

    private boolean isThere(Link link, String session) throws SQLException {
        return link.query(sql.ofSessions.findSession, ResultSet::next, session);
    }

    boolean endSession(Link link, String id) throws SQLException {
        return link.update(sql.ofSessions.endSession, id) > 0;
    }

    /** A claim that holds a lock, or waits for it. */
    record Mine(String key, String claim, boolean held) {}

    /** The claims of a session among some names. */
    List<Mine> mine(Link link, String session, List<String> keys) throws SQLException {
        List<Object> arguments = new ArrayList<>();
        for (int table = 0; table < 2; table++) {
            arguments.add(session);
            arguments.addAll(keys);
        }
        return link.query(
                sql.mine(keys.size()),
                rows -> {
                    List<Mine> found = new ArrayList<>();
                    while (rows.next()) {
                        found.add(new Mine(rows.getString(1), rows.getString(2), rows.getInt(3) != 0));
                    }
                    return found;
                },
                arguments.toArray());
    }

    // ---------------------------------------------------------------- operators

    /** The format of the tables, all of which are looked at; 0 if they do not say. */
    int format(Link link) throws SQLException {
        return link.query(sql.upkeep.check, rows -> rows.next() ? rows.getInt(4) : 0);
    }

    /** The locks in a range that are held or waited for, by sessions that are alive. */
    List<LockInfo> list(Link link, Keys keys, Keys.Range range) throws SQLException {
        return link.query(
                sql.upkeep.list,
                rows -> Operators.read(rows, keys),
                range.first(),
                range.last(),
                range.first(),
                range.last());
    }

    /** A page of them. Changes between its two statements can make it a little longer. */
    LockPage list(Link link, Keys keys, Keys.Range range, int limit) throws SQLException {
        List<String> names = link.query(sql.upkeep.usedNames, Store::strings, range.first(), range.last(), limit);
        if (names.size() < limit) {
            return LockPage.last(list(link, keys, range));
        }
        String last = names.get(limit - 1);
        return LockPage.of(list(link, keys, new Keys.Range(range.first(), last)), keys.name(last));
    }

    /** The namespaces that have a lock's row: skips from the first name of one to that of the next. */
    List<String> namespaces(Link link) throws SQLException {
        List<String> found = new ArrayList<>();
        String after = "";
        while (true) {
            Optional<String> next = link.query(
                    sql.upkeep.nextName,
                    rows -> rows.next() ? Optional.ofNullable(rows.getString(1)) : Optional.empty(),
                    after);
            if (next.isEmpty()) {
                return found;
            }
            String namespace = Keys.namespaceOf(next.get());
            if (namespace != null) {
                found.add(namespace);
            }
            after = Keys.after(next.get());
        }
    }

    // ---------------------------------------------------------------- cleaning

    /** The row with the time of the last cleaning; it is no lock's key, since those contain a slash. */
    private static final String SWEEPER = "#sweeper";

    /** Whether the caller is the one to clean up now: one client in each period. */
    boolean electSweeper(Link link, long periodMicros) throws SQLException {
        if (link.update(sql.upkeep.electSweeper, SWEEPER, periodMicros) > 0) {
            return true;
        }
        if (look(link, SWEEPER).isEmpty()) {
            try {
                link.draw(sql.insertFree, SWEEPER); // one client is elected the next time
            } catch (SQLException e) {
                if (!Failure.isDuplicate(e)) {
                    throw e;
                }
            }
        }
        return false;
    }

    List<String> expiredSessions(Link link) throws SQLException {
        return link.query(sql.upkeep.expiredSessions, Store::strings);
    }

    boolean endExpiredSession(Link link, String session) throws SQLException {
        return link.update(sql.ofSessions.endExpiredSession, session) > 0;
    }

    /** A lock with a session that is gone. */
    record Orphan(String key, String session) {}

    List<Orphan> orphans(Link link) throws SQLException {
        return link.query(sql.upkeep.orphans, rows -> {
            List<Orphan> found = new ArrayList<>();
            while (rows.next()) {
                found.add(new Orphan(rows.getString(1), rows.getString(2)));
            }
            return found;
        });
    }

    List<String> idleKeys(Link link, long idleMicros) throws SQLException {
        return link.query(sql.upkeep.idleNames, Store::strings, idleMicros);
    }

    /** Removes a name if nobody has used it for a time. Its token is behind the clock, so the next one is higher. */
    boolean removeIdle(Link link, String key, long idleMicros) throws SQLException {
        return link.update(sql.upkeep.deleteIdle, key, idleMicros) > 0;
    }

    private static List<String> strings(ResultSet rows) throws SQLException {
        List<String> strings = new ArrayList<>();
        while (rows.next()) {
            strings.add(rows.getString(1));
        }
        return strings;
    }
}
