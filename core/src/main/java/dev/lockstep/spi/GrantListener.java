package dev.lockstep.spi;

import dev.lockstep.LossReason;

/**
 * A backend notifies it of what happens to a claim and its grant. Calls may come on any thread, and even before {@link
 * Claim#outcome()} has the grant; they are short and do not block. A call that comes twice, or after the grant was
 * released, does nothing.
 */
public interface GrantListener {
    /**
     * The engine ended a grant. Called before the engine can grant the lock again, if the engine allows that.
     *
     * @param grant the grant of the claim; one that was never an outcome, because the backend claimed again, is ignored
     * @param reason why
     */
    void lost(Grant grant, LossReason reason);

    /**
     * A grant blocks another client's claim.
     *
     * @param grant the grant of the claim
     */
    void wanted(Grant grant);

    /**
     * The engine has answered that the claim must wait, as {@link Claim#mustWait()} says from then on. Called once,
     * before the claim has its outcome; not while the backend holds a lock of its own. A backend that does not call it
     * works, but observers are not notified of waits that begin after {@link LockBackend#submit} has returned.
     */
    default void waiting() {}
}
