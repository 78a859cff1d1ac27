package dev.lockstep.internal.turnstile;

/** The state of a passage. Only this class says which state may follow which. */
enum PassageState {
    /** The claim is in the engine, or on its way there. */
    CLAIMING,
    /** The grant is ours: used by holds, or offered to the next of them. */
    HELD,
    /** The grant is ours and nobody uses it: kept for the next local call. */
    RETAINED,
    /** The grant is being released; new claims wait behind it. */
    RELEASING,
    /** The claim is being given up; new claims wait behind it. */
    WITHDRAWING,
    /** The engine no longer has it, or ended it. */
    GONE;

    private int successors;

    static {
        CLAIMING.leadsTo(HELD, WITHDRAWING, GONE);
        HELD.leadsTo(RETAINED, RELEASING, GONE);
        RETAINED.leadsTo(HELD, RELEASING, GONE);
        RELEASING.leadsTo(GONE);
        WITHDRAWING.leadsTo(GONE);
    }

    private void leadsTo(PassageState... next) {
        for (PassageState state : next) {
            successors |= 1 << state.ordinal();
        }
    }

    boolean mayBecome(PassageState next) {
        return (successors & 1 << next.ordinal()) != 0;
    }
}
