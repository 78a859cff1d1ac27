package dev.lockstep.spi;

import dev.lockstep.LossReason;

/**
 * Hears from a backend what becomes of a grant. Calls may come on any thread, also inside {@link Grant#listen}; they are
 * short and do not block. A call that comes twice, or after the grant was released, does nothing.
 */
public interface GrantListener {
    /**
     * The engine ended the grant: told before the engine can grant the lock again, where it allows that.
     *
     * @param reason why
     */
    void lost(LossReason reason);

    /** Another client's claim is blocked by the grant. */
    void wanted();
}
