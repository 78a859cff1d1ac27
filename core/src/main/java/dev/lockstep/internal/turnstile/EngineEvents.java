package dev.lockstep.internal.turnstile;

import dev.lockstep.LossReason;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.Grant;
import dev.lockstep.spi.Outcome;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What happens to a turnstile's claims and grants, as events: the engine answers or says something, or a timer of theirs
 * fires. Called without the mutex. Safe for use by many threads.
 */
final class EngineEvents {
    private final Gate gate;
    private final Rules rules;

    EngineEvents(Gate gate, Rules rules) {
        this.gate = gate;
        this.rules = rules;
    }

    /** A claim has reached the backend. */
    void submitted(Passage passage, Claim claim) {
        gate.post(() -> rules.claims.submitted(passage, claim));
    }

    /** The engine has answered a claim, or its outcome is unknown. */
    void concluded(Passage passage, @Nullable Outcome outcome, @Nullable Throwable error) {
        gate.postAndDecide(now -> rules.claims.concluded(passage, outcome, error, now));
    }

    /** The engine has not answered at once that it knows a passage no more. */
    void owed(Passage passage) {
        gate.post(() -> passage.owe(gate.now()));
    }

    /** The engine knows a passage no more. */
    void gone(Passage passage) {
        gate.postAndDecide(now -> rules.claims.end(passage));
    }

    /**
     * The engine has confirmed at once that it knows a passage no more. Said without the mutex if nobody waits for that; see
     * {@link InlineClaim}.
     */
    void goneAtOnce(Passage passage) {
        passage.markGone();
        if (rules.state.queue.isAwaited()) {
            gate.postAndDecide(now -> {});
        }
    }

    /** The engine knows a passage no more, and did not any more when its last hold was released: that had been lost. */
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

    /** The idle time of a passage may be over. */
    void checkIdle(Passage passage, Duration sticky) {
        gate.post(() -> rules.checkIdle(passage, sticky, gate.now()));
    }

    /** The minimum time of a hold may be over. */
    void checkKept(Passage passage) {
        gate.postAndDecide(now -> passage.endKeptTimer());
    }
}
