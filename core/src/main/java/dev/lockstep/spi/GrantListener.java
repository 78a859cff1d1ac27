package dev.lockstep.spi;

import dev.lockstep.LossReason;

/**
 * Hears from a backend what becomes of a grant. Calls may come on any thread, also before the grant itself has been told
 * through {@link Claim#outcome()}; they are short and do not block. A call that comes twice, or after the grant was
 * released, does nothing.
 */
public interface GrantListener {
    /**
     * The engine ended a grant: told before the engine can grant the lock again, where it allows that.
     *
     * @param grant the grant of the claim; one that was never told, because the backend claimed again, is ignored
     * @param reason why
     */
    void lost(Grant grant, LossReason reason);

    /**
     * Another client's claim is blocked by a grant.
     *
     * @param grant the grant of the claim
     */
    void wanted(Grant grant);
}
