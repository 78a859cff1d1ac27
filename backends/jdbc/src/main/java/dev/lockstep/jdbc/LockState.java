package dev.lockstep.jdbc;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One lock as its rows say, read in a transaction that has locked the lock's row: nobody else changes it meanwhile. Knows
 * the rules of the queue, and nothing of SQL. Used by one thread.
 */
final class LockState {
    /** A row of the claims. */
    record Row(
            String claim, String session, boolean shared, long token, int permits, List<Integer> slots, long ticket) {
        /** The row of a claim that waits. */
        static Row waiting(Ask ask, String session, long ticket) {
            return new Row(ask.claim(), session, ask.shared(), 0, ask.permits(), List.of(), ticket);
        }

        /** The row of a claim that holds together with others. */
        static Row held(Ask ask, String session, long token, List<Integer> slots) {
            return new Row(ask.claim(), session, true, token, ask.permits(), slots, 0);
        }
    }

    /** The token of the last grant, which is the owner's if there is one. */
    private final long token;

    @Nullable
    String owner;

    @Nullable
    String ownerSession;

    long tickets;

    /** How many permits a semaphore has; 0 for a lock. Without a meaning while nobody holds and nobody waits. */
    int limit;

    /** The claims that hold it together. */
    final List<Row> held = new ArrayList<>();

    /** The claims that wait, in the order of their tickets. */
    final List<Row> waiting = new ArrayList<>();

    LockState(long token, @Nullable String owner, @Nullable String ownerSession, long tickets, int limit) {
        this.token = token;
        this.owner = owner;
        this.ownerSession = ownerSession;
        this.tickets = tickets;
        this.limit = limit;
    }

    @Nullable
    String head() {
        return waiting.isEmpty() ? null : waiting.get(0).claim();
    }

    /** Whether nobody holds and nobody waits. */
    boolean isUnused() {
        return owner == null && held.isEmpty() && waiting.isEmpty();
    }

    /** How many hold it together; of a semaphore, how many permits they have. */
    int readers() {
        return held.stream().mapToInt(Row::permits).sum();
    }

    boolean mayTake(Ask ask) {
        return mayTake(ask.claim(), ask.shared(), ask.permits(), ask.mayBarge());
    }

    /**
     * Whether a claim may have the lock now. A writer that may barge needs only a free lock; a reader never passes a
     * writer that waits, and no claim passes one that waits for permits.
     */
    private boolean mayTake(String claim, boolean shared, int permits, boolean mayBarge) {
        if (owner != null) {
            return owner.equals(claim); // an answer was lost
        }
        if (limit > 0) {
            return readers() + permits <= limit && (waiting.isEmpty() || claim.equals(head()));
        }
        if (!shared) {
            return held.isEmpty() && (mayBarge || waiting.isEmpty() || claim.equals(head()));
        }
        for (Row before : waiting) {
            if (before.claim().equals(claim)) {
                return true;
            }
            if (!before.shared()) {
                return false;
            }
        }
        return true;
    }

    /** The claim that can have the lock now, and has to be notified; null if there is none. */
    @Nullable
    String next() {
        if (waiting.isEmpty()) {
            return null;
        }
        Row head = waiting.get(0);
        return mayTake(head.claim(), head.shared(), head.permits(), false) ? head.claim() : null;
    }

    @Nullable
    Row find(String claim) {
        for (Row row : waiting) {
            if (row.claim().equals(claim)) {
                return row;
            }
        }
        return findHeld(claim);
    }

    @Nullable
    Row findHeld(String claim) {
        for (Row row : held) {
            if (row.claim().equals(claim)) {
                return row;
            }
        }
        return null;
    }

    void remove(String claim) {
        waiting.removeIf(row -> row.claim().equals(claim));
        held.removeIf(row -> row.claim().equals(claim));
    }

    void free() {
        owner = null;
        ownerSession = null;
    }

    /** The claims that keep others from the lock. */
    List<Row> holders() {
        List<Row> holders = new ArrayList<>();
        if (owner != null) {
            holders.add(new Row(owner, ownerSession == null ? "" : ownerSession, false, token, 1, List.of(), 0));
        }
        holders.addAll(held);
        return holders;
    }
}
