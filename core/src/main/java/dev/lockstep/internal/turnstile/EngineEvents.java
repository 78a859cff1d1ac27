package dev.lockstep.internal.turnstile;

import dev.lockstep.LossReason;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.Grant;
import dev.lockstep.spi.Outcome;
import dev.lockstep.spi.Scheduler;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Events of a turnstile's claims and grants: the engine answers or sends a message, or one of their timers fires.
 * Called without the mutex. Safe for use by many threads.
 */
final class EngineEvents {
    private final Turnstile turnstile;
    private final Gate gate;
    private final Rules rules;
    private final WaitReports waitReports;

    EngineEvents(Turnstile turnstile, Gate gate, Rules rules) {
        this.turnstile = turnstile;
        this.gate = gate;
        this.rules = rules;
        this.waitReports = new WaitReports(rules);
    }

    /** A claim has reached the backend. */
    void submitted(Passage passage, Claim claim) {
        gate.post(() -> rules.claims.submitted(passage, claim));
    }

    /** The engine has answered a claim, or its outcome is unknown. */
    void concluded(Passage passage, @Nullable Outcome outcome, @Nullable Throwable error) {
        gate.postAndDecide(now -> rules.claims.concluded(passage, outcome, error, now));
    }

    /** The engine has not confirmed at once that a passage is gone. */
    void owed(Passage passage) {
        gate.post(() -> passage.owe(gate.now()));
    }

    /** The engine no longer has a passage. */
    void gone(Passage passage) {
        gate.postAndDecide(now -> rules.claims.end(passage));
    }

    /**
     * The engine has confirmed at once that a passage is gone. Marked without the mutex if no call waits for that; see
     * {@link InlineClaim}.
     */
    void goneAtOnce(Passage passage) {
        passage.markGone();
        if (rules.state.queue.isAwaited()) {
            gate.postAndDecide(now -> {});
        }
    }

    /** A passage is gone, and was gone already when its last hold was released: the hold had been lost. */
    void goneBefore(Passage passage, Hold hold) {
        gate.postAndDecide(now -> {
            rules.losses.loseReleased(hold, now);
            rules.claims.end(passage);
        });
    }

    void downgraded(Passage passage, boolean shared) {
        gate.postAndDecide(now -> {
            if (shared) {
                passage.becomeShared();
            } else {
                rules.losses.loseOverruled(passage); // by a grant that it could be shared with as long as nobody knew
            }
        });
    }

    /** The engine says that a grant is gone. */
    void lost(Passage passage, Grant grant, LossReason reason) {
        gate.post(() -> {
            if (passage.isHeld() && passage.isOf(grant)) {
                rules.losses.lose(passage, reason);
                rules.decide(gate.now());
            }
        });
    }

    /** Another client wants a grant that is here. One that is in use is looked at when a hold ends. */
    void wanted(Passage passage) {
        gate.post(() -> {
            if (passage.state() == PassageState.RETAINED) {
                rules.decide(gate.now());
            }
        });
    }

    /** The engine has answered that a claim must wait. Only observers need this. */
    void waiting(Passage passage) {
        if (turnstile.client().events().observers().isAny()) {
            gate.post(() -> waitReports.waiting(passage));
        }
    }

    /** See {@link Waiter#reportWait}. */
    boolean reportWait(Waiter waiter, Runnable report) {
        gate.enter();
        try {
            return waitReports.add(waiter, report, gate.now());
        } finally {
            gate.leave();
        }
    }

    /** The idle time of a passage may be over. */
    void checkIdle(Passage passage, Duration sticky) {
        gate.post(() -> rules.checkIdle(passage, sticky, gate.now()));
    }

    /** A timer has been set that ends a call which gave up. */
    void endsBy(Waiter waiter, Scheduler.Timer timer) {
        gate.post(() -> rules.leftovers.endsBy(waiter, timer));
    }

    /** The engine has not confirmed in time that nothing is left of a call. */
    void notConfirmed(Waiter waiter) {
        gate.post(() -> rules.leftovers.finishLeaving(waiter));
    }

    /** The minimum time of a hold may be over. */
    void checkKept(Passage passage) {
        gate.postAndDecide(now -> passage.endKeptTimer());
    }
}
