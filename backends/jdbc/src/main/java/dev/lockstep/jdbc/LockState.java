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
    record Row(String claim, String session, boolean shared, long token) {}

    /** That of the last grant, which is the owner's if there is one. */
    private final long token;

    @Nullable
    String owner;

    @Nullable
    String ownerSession;

    long tickets;

    /** Those who hold it together. */
    final List<Row> held = new ArrayList<>();

    /** Those who wait, in the order of their tickets. */
    final List<Row> waiting = new ArrayList<>();

    LockState(long token, @Nullable String owner, @Nullable String ownerSession, long tickets) {
        this.token = token;
        this.owner = owner;
        this.ownerSession = ownerSession;
        this.tickets = tickets;
    }

    @Nullable
    String head() {
        return waiting.isEmpty() ? null : waiting.get(0).claim();
    }

    boolean isFree() {
        return owner == null && held.isEmpty();
    }

    /**
     * Tells whether a claim may have the lock now. A writer that may barge needs nothing but a free lock; a reader never
     * goes past a writer that waits.
     */
    boolean mayTake(String claim, boolean shared, boolean mayBarge) {
        if (owner != null && !owner.equals(claim)) {
            return false;
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

    /** The claim that can have the lock as things are now, and has to be told so; null if there is none. */
    @Nullable
    String next() {
        if (waiting.isEmpty()) {
            return null;
        }
        Row head = waiting.get(0);
        return mayTake(head.claim(), head.shared(), false) ? head.claim() : null;
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
            holders.add(new Row(owner, ownerSession == null ? "" : ownerSession, false, token));
        }
        holders.addAll(held);
        return holders;
    }
}
