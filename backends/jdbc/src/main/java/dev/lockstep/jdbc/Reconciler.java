package dev.lockstep.jdbc;

import dev.lockstep.LossReason;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Compares a client's holds with the tables, after each renewal of its session, and corrects both. Safe for use by many
 * threads.
 */
final class Reconciler {
    /*
     * Overview. A database can lose its last commits: in a crash, by the promotion of a standby that had not seen them, or
     * because a backup was restored. A take that was lost leaves a holder without a row; a release that was lost leaves a row
     * that a live session keeps alive. An operator's forceRelease looks like the first.
     *
     * Rows are found by name: an index on locks(session) would cost PostgreSQL its HOT updates. The names are those that the
     * client holds, and those that it has released. A released name is remembered until a comparison that began a ttl
     * after the release has found it free. That is long enough: a session that has expired cannot be renewed, so an earlier
     * state in which this session is alive is younger than the ttl, and contains every release that is older.
     *
     * This client frees a row of its session if it does not know the row's claim. A claim is known from before it is
     * sent until its release has been answered: first among the claims, then the grants, then those that leave, and
     * always in the next place before it leaves the last. So they are asked in that order.
     */

    /** The most names of one statement. */
    private static final int NAMES = 500;

    /** The most released names that are remembered: a client that releases more of them in a ttl forgets the oldest. */
    private static final int MOST_RELEASED = 10_000;

    private final JdbcBackend backend;
    private final Map<String, Long> released = new LinkedHashMap<>(); // by key, since when; guarded by itself
    private final Set<String> leaving = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean running = new AtomicBoolean();

    Reconciler(JdbcBackend backend) {
        this.backend = backend;
    }

    /** A release or a withdrawal is about to be sent. */
    void leaves(Ask ask) {
        leaving.add(ask.claim());
    }

    /** A claim neither holds nor waits any more, as far as this client knows. */
    void left(Ask ask) {
        long now = backend.requests().nanoTime();
        synchronized (released) {
            released.remove(ask.key());
            released.put(ask.key(), now);
            if (released.size() > MOST_RELEASED) {
                released.remove(released.keySet().iterator().next());
            }
        }
        leaving.remove(ask.claim());
    }

    /** Whether a release or a withdrawal of the claim is under way. */
    boolean isLeaving(String claim) {
        return leaving.contains(claim);
    }

    /** Compares in the background, unless that is under way. */
    void start(Session session) {
        if (!running.compareAndSet(false, true)) {
            return;
        }
        backend.requests().run(JdbcBackend.DO_NOT_BLOCK, () -> run(session), () -> running.set(false));
    }

    private void run(Session session) {
        try {
            compare(session);
        } catch (SQLException | RuntimeException e) {
            backend.log().debug("Holds could not be compared with the tables; the next renewal repeats it", e);
        } finally {
            running.set(false);
        }
    }

    private void compare(Session session) throws SQLException {
        long began = backend.requests().nanoTime();
        Map<String, List<JdbcGrant>> held = new HashMap<>();
        backend.grantsOf(session)
                .forEach(grant -> held.computeIfAbsent(grant.key(), key -> new ArrayList<>())
                        .add(grant));
        Map<String, Long> left;
        synchronized (released) {
            left = new HashMap<>(released);
        }
        Set<String> all = new HashSet<>(held.keySet());
        all.addAll(left.keySet());
        List<String> names = new ArrayList<>(all);
        for (int from = 0; from < names.size(); from += NAMES) {
            List<String> some = names.subList(from, Math.min(from + NAMES, names.size()));
            List<Store.Mine> rows =
                    backend.requests().call(link -> backend.store().mine(link, session.id(), some));
            free(rows);
            report(rows, some, held);
            forget(some, left, began);
        }
    }

    /**
     * Frees rows that no claim here knows. A row that was released since it was read is unknown, too, and gone already.
     */
    private void free(List<Store.Mine> rows) throws SQLException {
        for (Store.Mine row : rows) {
            if (!backend.isKnown(row.claim()) && remove(row) != Queue.Removed.NOTHING) {
                backend.log()
                        .warn(
                                "Row '{}' belonged to this client, which does not use it any more; it was freed",
                                row.key());
            }
        }
    }

    private Queue.Removed remove(Store.Mine row) throws SQLException {
        return backend.requests().call(link -> backend.store().queue().remove(link, row.key(), row.claim()));
    }

    /** Reports grants without a row as lost. Each is checked again with its row locked, which no replica can do. */
    private void report(List<Store.Mine> rows, List<String> names, Map<String, List<JdbcGrant>> held)
            throws SQLException {
        Set<String> holding = new HashSet<>();
        rows.stream().filter(Store.Mine::held).forEach(row -> holding.add(row.claim()));
        for (String name : names) {
            for (JdbcGrant grant : held.getOrDefault(name, List.of())) {
                if (!holding.contains(grant.claimId())
                        && !backend.requests()
                                .call(link -> backend.store().queue().holds(link, name, grant.claimId()))
                        && backend.isOut(grant)) {
                    grant.signalLost(LossReason.REVOKED);
                }
            }
        }
    }

    private void forget(List<String> names, Map<String, Long> left, long began) {
        synchronized (released) {
            for (String name : names) {
                Long since = left.get(name);
                if (since != null && began - since >= backend.requests().ttlNanos()) {
                    released.remove(name, since);
                }
            }
        }
    }
}
