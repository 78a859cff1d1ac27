package dev.lockstep.jdbc;

/** The statements, for one dialect and one set of tables. Immutable. */
final class Sql {
    private static final String ROW = "token, owner, session, readers, head, tickets, permits";
    private static final String HOLDER = "session, thread, since, sticky";

    /** The parts from which PostgreSQL's own statements are built; see PostgresPush. */
    final String locks;

    final String claims;
    private final String sessions;
    final String taking;
    final String intoClaims;
    final String now;

    final String take;
    final String takeUnlessQueued;
    final String insertTaken;
    final String insertFree;
    final String release;
    final String moveOwner;
    final String look;
    final String glance;
    final String serve;
    final String deleteServed;
    final String readHead;

    final String lockRow;
    final String readClaims;
    final String takeQueued;
    final String drawShared;
    final String store;
    final String releaseShared;
    final String deleteHeld;
    final String recordOwnersWait;
    final String recordHoldersWait;
    final String moveWait;
    final String insertClaim;
    final String insertHeld;
    final String holdClaim;
    final String moveClaim;
    final String deleteClaim;
    final String deleteClaimsOfSession;

    final SessionSql ofSessions;
    final UpkeepSql upkeep;

    Sql(Dialect dialect, String prefix) {
        sessions = prefix + "sessions";
        locks = prefix + "locks";
        claims = prefix + "claims";
        now = dialect.now();
        ofSessions = new SessionSql(sessions, now);
        upkeep = new UpkeepSql(prefix, now);

        taking = "UPDATE " + locks + " SET token = " + dialect.drawn(dialect.nextToken())
                + ", owner = ?, session = ?, thread = ?, sticky = ?, waits = NULL, since = " + now;
        String ifFree = " WHERE name = ? AND readers = 0 AND (owner IS NULL OR owner = ?) AND permits = 0";
        take = dialect.drawing(taking + ifFree);
        takeUnlessQueued = dialect.drawing(taking + ifFree + " AND head IS NULL");
        insertTaken = dialect.drawingInsert("INSERT INTO " + locks
                + " (name, token, owner, session, thread, sticky, since, readers, tickets) VALUES (?, "
                + dialect.drawn(now) + ", ?, ?, ?, ?, " + now + ", 0, 0)");
        insertFree = dialect.drawingInsert("INSERT INTO " + locks + " (name, token, readers, tickets) VALUES (?, "
                + dialect.drawn(now) + ", 0, 0)");
        release = "UPDATE " + locks + " SET owner = NULL, session = NULL WHERE name = ? AND owner = ?";
        moveOwner = "UPDATE " + locks + " SET session = ? WHERE name = ? AND owner = ?";
        look = look("0");
        glance = "SELECT l.owner, NULL, NULL, l.readers, l.head, h.shared, NULL, 0, l.permits, h.ticket FROM " + locks
                + " l LEFT JOIN " + claims + " h ON h.claim = l.head WHERE l.name = ?";
        serve = dialect.drawing(serve("name = ?"));
        readHead = "SELECT head FROM " + locks + " WHERE name = ?";
        deleteServed = "DELETE FROM " + claims + " WHERE claim = ? AND EXISTS (SELECT 1 FROM " + locks
                + " WHERE name = ? AND owner = ?)";

        lockRow = dialect.lockRow(ROW, locks);
        readClaims = "SELECT claim, session, shared, held, token, permits, slots, ticket FROM " + claims
                + " WHERE name = ? ORDER BY ticket";
        takeQueued = dialect.drawing(taking + ", permits = 0, head = ? WHERE name = ?");
        drawShared = dialect.drawing("UPDATE " + locks + " SET token = " + dialect.drawn(dialect.nextToken())
                + ", readers = ?, head = ?, permits = ? WHERE name = ?");
        store = "UPDATE " + locks
                + " SET owner = ?, session = ?, readers = ?, head = ?, tickets = ?, permits = ? WHERE name = ?";
        releaseShared = "UPDATE " + locks + " SET readers = readers - (SELECT COALESCE(SUM(permits), 0) FROM " + claims
                + " WHERE claim = ? AND held = 1) WHERE name = ?";
        deleteHeld = "DELETE FROM " + claims + " WHERE claim = ? AND held = 1";
        recordOwnersWait = "UPDATE " + locks + " SET waits = ? WHERE name = ? AND owner = ?";
        recordHoldersWait = "UPDATE " + claims + " SET waits = ? WHERE claim = ? AND held = 1";
        moveWait = "UPDATE " + claims + " SET waits = (SELECT waits FROM " + locks + " WHERE name = ?) WHERE claim = ?";
        intoClaims = "INSERT INTO " + claims + " (claim, name, ticket, shared, held, token, " + HOLDER;
        insertClaim = intoClaims + ", permits) VALUES (?, ?, ?, ?, 0, 0, ?, ?, " + now + ", ?, ?)";
        insertHeld = intoClaims + ", permits, slots) SELECT ?, name, 0, 1, 1, token, ?, ?, " + now + ", ?, ?, ? FROM "
                + locks + " WHERE name = ?";
        holdClaim = "UPDATE " + claims + " SET held = 1, token = (SELECT token FROM " + locks
                + " WHERE name = ?), session = ?, slots = ? WHERE claim = ?";
        moveClaim = "UPDATE " + claims + " SET session = ? WHERE claim = ?";
        deleteClaim = "DELETE FROM " + claims + " WHERE claim = ?";
        deleteClaimsOfSession = "DELETE FROM " + claims + " WHERE name = ? AND session = ?";
    }

    /** A session's rows among some names; the session and the names are passed twice. */
    String mine(int names) {
        String among = " WHERE session = ? AND name IN (?" + ", ?".repeat(names - 1) + ")";
        return "SELECT name, owner, 1 FROM " + locks + among + " UNION ALL SELECT name, claim, held FROM " + claims
                + among;
    }

    /**
     * Gives a lock to a claim that waits for it, if it is free and the claim is the head or may barge; and makes the next
     * one the head.
     *
     * @param which the condition that finds the lock
     */
    String serve(String which) {
        return taking + ", head = (SELECT c.claim FROM " + claims
                + " c WHERE c.name = ? AND c.held = 0 AND c.claim <> ?"
                + " ORDER BY c.ticket LIMIT 1) WHERE " + which
                + " AND readers = 0 AND permits = 0 AND owner IS NULL AND (head = ? OR 1 = ?)";
    }

    /**
     * Looks at a lock: the one statement in which the clock, a session and a lock meet. It decides nothing; see Store.evict.
     *
     * @param queued whether it was also queued for, as an expression
     */
    String look(String queued) {
        return "SELECT l.owner, l.session, s.expires - " + now + ", l.readers, l.head, h.shared, (SELECT MIN(d.session)"
                + " FROM " + claims + " d LEFT JOIN " + sessions + " e ON e.id = d.session"
                + " WHERE d.name = l.name AND (e.id IS NULL OR e.expires <= " + now + ")), " + queued
                + ", l.permits, h.ticket"
                + " FROM " + locks + " l LEFT JOIN " + sessions + " s ON s.id = l.session"
                + " LEFT JOIN " + claims + " h ON h.claim = l.head WHERE l.name = ?";
    }
}
