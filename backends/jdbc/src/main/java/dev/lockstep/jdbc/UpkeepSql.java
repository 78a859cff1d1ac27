package dev.lockstep.jdbc;

/** The statements of operators and of the upkeep of the tables. Immutable. */
final class UpkeepSql {
    final String list;
    final String usedNames;
    final String nextName;
    final String electSweeper;
    final String expiredSessions;
    final String orphans;
    final String idleNames;
    final String deleteIdle;
    final String check;

    UpkeepSql(String prefix, String now) {
        String sessions = prefix + "sessions";
        String locks = prefix + "locks";
        String claims = prefix + "claims";
        String alive = " s.expires > " + now;
        String left = "s.expires - " + now;
        list = "SELECT l.name AS k, 0 AS shared, 1 AS held, l.token, l.thread, l.since, l.sticky, s.client, s.host,"
                + " s.pid, 0 AS ticket, " + left + ", l.owner, 1, l.waits, 0 FROM " + locks + " l JOIN " + sessions
                + " s ON s.id = l.session WHERE"
                + alive + " AND l.owner IS NOT NULL AND l.name >= ? AND l.name <= ? UNION ALL"
                + " SELECT c.name, c.shared, c.held, c.token, c.thread, c.since, c.sticky, s.client, s.host, s.pid,"
                + " c.ticket, " + left + ", c.claim, c.permits, c.waits, m.permits FROM " + claims + " c JOIN "
                + sessions
                + " s ON s.id = c.session JOIN " + locks + " m ON m.name = c.name WHERE" + alive
                + " AND c.name >= ? AND c.name <= ? ORDER BY 1, 11";
        usedNames = "SELECT name FROM " + locks + " WHERE name >= ? AND name <= ?"
                + " AND (owner IS NOT NULL OR readers > 0 OR head IS NOT NULL) ORDER BY name LIMIT ?";
        nextName = "SELECT MIN(name) FROM " + locks + " WHERE name > ?";
        electSweeper = "UPDATE " + locks + " SET token = " + now + " WHERE name = ? AND token <= " + now + " - ?";
        expiredSessions = "SELECT id FROM " + sessions + " WHERE expires <= " + now;
        orphans = "SELECT name, session FROM " + locks + " l WHERE session IS NOT NULL AND NOT EXISTS (SELECT 1 FROM "
                + sessions + " s WHERE s.id = l.session) UNION SELECT name, session FROM " + claims
                + " c WHERE NOT EXISTS (SELECT 1 FROM " + sessions + " s WHERE s.id = c.session)";
        String idle = "owner IS NULL AND readers = 0 AND head IS NULL AND token < " + now + " - ?";
        idleNames = "SELECT name FROM " + locks + " WHERE " + idle;
        deleteIdle = "DELETE FROM " + locks + " WHERE name = ? AND " + idle;
        check = "SELECT (SELECT COUNT(*) FROM " + sessions
                + " WHERE id IS NULL AND revocations = 0), (SELECT COUNT(*) FROM "
                + locks + " WHERE name IS NULL AND permits = 0), (SELECT COUNT(*) FROM " + claims
                + " WHERE claim IS NULL AND permits = 0), (SELECT MAX(version) FROM " + prefix + "format)";
    }
}
