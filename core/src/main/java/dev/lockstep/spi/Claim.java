package dev.lockstep.spi;

import java.time.Duration;
import java.util.concurrent.CompletionStage;

/** A claim that was submitted to the engine. */
public interface Claim {
    /**
     * The answer. Never completes while the claim waits or the backend retries; completes exceptionally if the backend
     * gave up and the outcome is unknown. The core then withdraws.
     *
     * @return the same stage at each call
     */
    CompletionStage<Outcome> outcome();

    /**
     * Whether the engine has answered that this claim must wait: another claim holds the lock or is before it in the
     * queue. A call whose time is up before the first answer waits for that answer, so that it never reports a free
     * lock as held. Never takes a lock and never blocks.
     *
     * @return true from that answer on
     */
    boolean mustWait();

    /**
     * Withdraws the claim. The backend keeps trying until the claim is certainly gone, at the latest when its ttl has
     * passed. If the claim is granted at the same moment, the backend releases the grant, even if {@link #outcome()}
     * already has it; the core ignores the outcome of a withdrawn claim. Called at most once, and never after the core
     * has taken the grant.
     *
     * @param blockAtMost how long the call may block for its one round trip
     * @return done when the engine certainly has no record of the claim any more
     */
    CompletionStage<Void> withdraw(Duration blockAtMost);
}
