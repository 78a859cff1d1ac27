package dev.lockstep.internal.turnstile;

import dev.lockstep.LockOptions;

/**
 * How often one grant passes from one local hold to the next before the engine is asked again: freely while no other client
 * wants it, then as often as the lock's options say, and not for long. Guarded by the turnstile's mutex.
 */
final class HandOffs {
    /** How often the first waiter may be overtaken by threads that happen to run. */
    static final int MAX_BYPASS = 64;

    /** How long a grant may be handed on locally once another client wants it. */
    static final long HAND_OFF_NANOS = 10_000_000;

    /** Hand-offs since the engine gave the grant. */
    private int all;

    /** Whether another client wants the grant, so that a budget counts, since when, and how much of it is used. */
    private boolean budgeted;

    private long budgetNanos;
    private int used;

    /** Whether a running thread may still overtake the first waiter. If not, the grant is given to it. */
    static boolean mayOvertake(Waiter first) {
        return first.bypassed() < MAX_BYPASS;
    }

    /**
     * Whether the grant may be handed off again.
     *
     * @param wanted whether another client may want it
     */
    boolean allowOneMore(LockOptions options, boolean wanted, long now) {
        if (!budgeted) {
            if (!wanted) {
                return true;
            }
            budgeted = true;
            budgetNanos = now;
            used = 0;
        }
        return used < options.handOff() && now - budgetNanos < HAND_OFF_NANOS;
    }

    void handedOff() {
        used++;
        all++;
    }

    boolean isBudgeted() {
        return budgeted;
    }

    int all() {
        return all;
    }
}
