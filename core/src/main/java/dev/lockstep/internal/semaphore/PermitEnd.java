package dev.lockstep.internal.semaphore;

import dev.lockstep.LockObserver.HoldOutcome;
import dev.lockstep.LossReason;
import java.util.Optional;

/**
 * How a hold has ended.
 *
 * @param reason why it was lost; empty if it was not
 */
record PermitEnd(HoldOutcome outcome, Optional<LossReason> reason) {
    static final PermitEnd RELEASED = new PermitEnd(HoldOutcome.RELEASED, Optional.empty());

    /** The engine has not answered in time. */
    static final PermitEnd UNCONFIRMED = new PermitEnd(HoldOutcome.UNCONFIRMED, Optional.empty());

    static PermitEnd lost(LossReason reason) {
        return new PermitEnd(HoldOutcome.LOST, Optional.of(reason));
    }
}
