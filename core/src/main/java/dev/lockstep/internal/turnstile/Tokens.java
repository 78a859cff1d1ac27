package dev.lockstep.internal.turnstile;

import dev.lockstep.LockInfo;

/**
 * The tokens of the holds on one grant: the grant's own, followed by an index of 10 bits. Index 0 is never drawn, so that
 * {@code LockInfo} can show it. Guarded by the turnstile's mutex.
 */
public final class Tokens {
    public static final int SHIFT = 10;

    private static final int MAX_INDEX = (1 << SHIFT) - 1;

    /** The last index drawn. */
    private int drawn;

    /** The index that the readers of the present cohort share; 0 if none was drawn. */
    private int cohortIndex;

    Tokens() {}

    /** An engine's knowledge of a lock, with its tokens as holders see them. */
    public static LockInfo scaled(LockInfo info) {
        return info.withHolders(info.holders().stream()
                .map(entry -> entry.token().isPresent()
                        ? entry.withToken(entry.token().getAsLong() << SHIFT)
                        : entry)
                .toList());
    }

    boolean isAnyLeft() {
        return drawn < MAX_INDEX;
    }

    /** The index of a writer: its own. */
    int drawExclusive() {
        return ++drawn;
    }

    /** The index of a reader: that of all readers that hold together. */
    int drawShared() {
        if (cohortIndex == 0) {
            cohortIndex = ++drawn;
        }
        return cohortIndex;
    }

    /** A writer holds the grant: the readers after it get another index than those before. */
    void endCohort() {
        cohortIndex = 0;
    }

    /** The readers that may outlive a writer keep its token; 0 if it has drawn none. */
    void continueWith(long token) {
        cohortIndex = token == 0 ? 0 : (int) (token & MAX_INDEX);
    }
}
