package dev.lockstep.internal.turnstile;

import dev.lockstep.LockInfo;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Events of a turnstile that occur because a thread holds one lock and waits for another. Called without the mutex.
 * Safe for use by many threads.
 */
public final class WaitEvents {
    private final Gate gate;
    private final Rules rules;

    WaitEvents(Gate gate, Rules rules) {
        this.gate = gate;
        this.rules = rules;
    }

    /** Whether the engine stores, or may store, what holders of this lock wait for. */
    public boolean isAny() {
        return rules.state.waits.isAny();
    }

    /** The owner of a hold here has waited for another lock for some time. */
    public void began(Hold hold, LockInfo.Wait wait) {
        gate.postAndDecide(now -> rules.state.waits.begin(hold, wait));
    }

    /** The owner of a hold here waits no longer. */
    public void ended(Hold hold) {
        gate.postAndDecide(now -> rules.state.waits.end(hold));
    }

    /** The wait that others should see beside the grant of a hold. */
    public Optional<LockInfo.Wait> shown(Hold hold) {
        gate.enter();
        try {
            return Optional.ofNullable(rules.state.waits.shown(hold));
        } finally {
            gate.leave();
        }
    }

    /** The wait that is shown beside a grant is in no cycle: that of another reader may be. */
    public void showNext(Hold hold) {
        gate.postAndDecide(now -> rules.state.waits.showNext(hold));
    }

    /** Unanswered requests are tried again. */
    public void retry() {
        gate.postAndDecide(now -> rules.state.waits.retry());
    }

    /** The engine has answered a request to store a wait, or not. */
    void recorded(Passage passage, Optional<LockInfo.Wait> sent, boolean known) {
        gate.postAndDecide(now -> rules.state.waits.answered(passage, sent, known));
    }

    /** A call can never have the lock. False if its wait is over, or a grant has just come for it. */
    public boolean fail(Waiter waiter, Supplier<RuntimeException> exception) {
        gate.enter();
        try {
            long now = gate.now();
            if (!waiter.isOver() && waiter.isOffered()) {
                waiter.takeOffer();
                rules.decide(waiter, now);
            }
            if (waiter.isOver()) {
                return false;
            }
            rules.abandon(waiter);
            rules.decide(now);
            // The engine answers: once the call has failed, nothing of it may keep others from the lock.
            rules.leftovers.leave(waiter, new Result.Failed(exception), now);
            return true;
        } finally {
            gate.leave();
        }
    }
}
