package dev.lockstep.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Notifies clients by NOTIFY, each on its own channel, and only if there is a client to notify: NOTIFY serialises
 * commits.
 */
final class PostgresPush implements Push {
    private static final String NOTIFY = "SELECT CAST(pg_notify(?, ?) AS TEXT)";
    private static final String CHANNEL = "lockstep_";
    private static final int CLIENT_LENGTH = 22;

    /**
     * Makes the commit of this transaction, and of no other, not wait for the disk or for a standby. Only for a
     * release: the next taker of the lock commits after it, and that commit waits for both. If a crash comes first, the
     * release is lost, the lock stays held by a client that lives, and that client's next renewal repeats the release
     * (see Reconciler).
     */
    private static final String WITHOUT_WAITING = "set_config('synchronous_commit', 'off', true)";

    private final String release;
    private final String enqueue;
    private final String serve;
    private final String hintHead;

    PostgresPush(Sql sql) {
        /*
         * One statement reads tables as they were when it began. Only a row that it changes is read as it is once it is
         * locked, and then the statement's conditions are checked again. So release and enqueue use the lock's own row
         * alone. Serving a claim requires the next waiter, which is in the claims table: the claims are unchanged as
         * long as the lock's row is (xmin), since every change of a lock's claims changes its row, too.
         */
        release = sql.release + " RETURNING CASE WHEN head IS NOT NULL THEN " + tell(Message.HINT, "head") + " END, "
                + WITHOUT_WAITING;
        enqueue = "WITH queued AS (UPDATE " + sql.locks + " SET tickets = tickets + 1, head = COALESCE(head, ?)"
                + " WHERE name = ? AND permits = 0 AND readers = 0 AND (owner IS NOT NULL OR head IS NOT NULL AND 0 = ?)"
                + " RETURNING name, owner, head, tickets), joined AS (" + sql.intoClaims
                + ") SELECT ?, name, tickets, 0, 0, 0, ?, ?, " + sql.now + ", ? FROM queued"
                + "), told AS (SELECT CASE WHEN owner IS NULL THEN " + tell(Message.HINT, "head")
                + " WHEN LEFT(owner, " + CLIENT_LENGTH + ") <> ? THEN " + tell(Message.WANTED, "owner")
                + " END AS sent FROM queued) " + sql.look("(SELECT COUNT(*) + 0 * COUNT(sent) FROM told)");
        serve = "WITH served AS ("
                + sql.serve("xmin = (SELECT s.xmin FROM " + sql.locks + " s WHERE s.name = ?) AND name = ?")
                + " RETURNING token, head), gone AS (DELETE FROM " + sql.claims
                + " WHERE claim = ? AND EXISTS (SELECT 1 FROM served)) SELECT token, head FROM served";
        hintHead = "SELECT CASE WHEN head IS NOT NULL THEN " + tell(Message.HINT, "head") + " END FROM " + sql.locks
                + " WHERE name = ?";
    }

    private static String tell(Message message, String claim) {
        return "CAST(pg_notify('" + CHANNEL + "' || LEFT(" + claim + ", " + CLIENT_LENGTH + "), '" + message.code
                + "' || " + claim + ") AS TEXT)";
    }

    static String channel(String client) {
        return CHANNEL + client;
    }

    static boolean send(Link link, String channel, String payload) throws SQLException {
        return link.query(NOTIFY, rows -> rows.next(), channel, payload);
    }

    @Override
    public void send(Batch batch, Message message, String claim) {
        batch.query(NOTIFY, ResultSet::next, channel(claim.substring(0, CLIENT_LENGTH)), message.code + claim);
    }

    @Override
    public void hintHead(Batch batch, String key) {
        batch.query(hintHead, ResultSet::next, key);
    }

    @Override
    public boolean release(Link link, Sql sql, String key, String claim) throws SQLException {
        return link.change(release, rows -> rows.next(), key, claim);
    }

    @Override
    public Optional<Look> enqueue(Link link, Sql sql, Ask ask, String session) throws SQLException {
        return link.change(
                enqueue,
                Look::read,
                ask.claim(),
                ask.key(),
                ask.mayBarge() ? 1 : 0,
                ask.claim(),
                session,
                ask.thread(),
                ask.sticky(),
                ask.client(),
                ask.key());
    }

    @Override
    public Dialect.@Nullable Drawn serve(Link link, Sql sql, Ask ask, String session) throws SQLException {
        return link.draw(
                serve,
                ask.claim(),
                session,
                ask.thread(),
                ask.sticky(),
                ask.key(),
                ask.claim(),
                ask.key(),
                ask.key(),
                ask.claim(),
                ask.mayBarge() ? 1 : 0,
                ask.claim());
    }
}
