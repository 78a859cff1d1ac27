package dev.lockstep.jdbc;

/** The statements about sessions. Immutable. */
final class SessionSql {
    final String openSession;
    final String renewSession;
    final String ping;
    final String findSession;
    final String endSession;
    final String endExpiredSession;
    final String revoke;

    SessionSql(String sessions, String now) {
        openSession = "INSERT INTO " + sessions + " (id, client, host, pid, expires, revocations) VALUES (?, ?, ?, ?, "
                + now + " + ?, 0)";
        renewSession = "UPDATE " + sessions + " SET expires = " + now + " + ? WHERE id = ? AND expires > " + now;
        ping = "UPDATE " + sessions + " SET expires = expires WHERE id = ? AND revocations < 0";
        findSession = "SELECT revocations FROM " + sessions + " WHERE id = ?";
        endSession = "DELETE FROM " + sessions + " WHERE id = ?";
        endExpiredSession = endSession + " AND expires <= " + now;
        revoke = "UPDATE " + sessions + " SET revocations = revocations + 1 WHERE id = ?";
    }
}
