package dev.lockstep.spi;

import java.time.Duration;
import java.util.concurrent.CompletionStage;

/** A claim on its way at the engine. */
public interface Claim {
    /**
     * The answer. Never completes while the claim waits or the backend retries; completes exceptionally if the backend
     * gave up and the outcome is unknown. The core then withdraws.
     *
     * @return the same stage at each call
     */
    CompletionStage<Outcome> outcome();

    /**
     * Whether the engine has answered that this claim must wait: somebody else holds the lock or is before it in the queue. A
     * call whose time is up before the first answer waits for that answer, so that it never reports a free lock as held.
     * Never takes a lock and never blocks.
     *
     * @return true from that answer on
     */
    boolean mustWait();

    /**
     * Gives the claim up. The backend goes on trying until the claim is certainly gone; once its ttl has passed, it is. A grant
     * that raced the withdrawal is given back by the backend, even if {@link #outcome()} already told of it; the
     * outcome of a withdrawn claim is not looked at. Called at most once, and never after the core has taken the grant.
     *
     * @param blockAtMost how long the call may block for its one round trip
     * @return done when the engine certainly knows the claim no more
     */
    CompletionStage<Void> withdraw(Duration blockAtMost);
}
