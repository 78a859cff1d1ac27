package dev.lockstep.jdbc;

import java.sql.SQLException;

/** Tells clients by NOTIFY, each on a channel of its own, and only if there is somebody to tell: it serialises commits. */
final class PostgresPush implements Push {
    private static final String NOTIFY = "SELECT CAST(pg_notify(?, ?) AS TEXT)";
    private static final String CHANNEL = "lockstep_";
    private static final int CLIENT_LENGTH = 22;

    private final String release;

    PostgresPush(Sql sql) {
        // Who waits first stands in the lock's own row, which is read as it is once it is locked; the claims would be
        // read as they were when the statement began.
        release = "WITH freed AS (" + sql.release + " RETURNING head) SELECT CASE WHEN head IS NULL THEN NULL ELSE"
                + " CAST(pg_notify('" + CHANNEL + "' || LEFT(head, " + CLIENT_LENGTH + "), '" + Message.HINT.code
                + "' || head) AS TEXT) END FROM freed";
    }

    static String channel(String client) {
        return CHANNEL + client;
    }

    static boolean send(Link link, String channel, String payload) throws SQLException {
        return link.query(NOTIFY, rows -> rows.next(), channel, payload);
    }

    @Override
    public void send(Link link, Message message, String claim) throws SQLException {
        send(link, channel(claim.substring(0, CLIENT_LENGTH)), message.code + claim);
    }

    @Override
    public boolean release(Link link, Sql sql, String key, String claim) throws SQLException {
        return link.query(release, rows -> rows.next(), key, claim);
    }
}
