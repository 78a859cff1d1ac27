package dev.lockstep.internal.turnstile;

import dev.lockstep.LockMode;
import dev.lockstep.LossReason;
import java.util.List;
import java.util.function.Consumer;

/**
 * The losses of grants and holds: because a deadline has passed, because the engine says so, or because a younger grant
 * contradicts an older one. Every method is
 * called with the mutex held. The Overview is in {@link Turnstile}.
 */
final class Losses {
    private final Rules rules;
    private final TurnstileState state;
    private final TurnstileContext client;
    private final String name;

    Losses(Rules rules, Turnstile turnstile) {
        this.rules = rules;
        this.state = rules.state;
        this.client = turnstile.client();
        this.name = turnstile.name();
    }

    /** Ends the grants, and the maximum times of holds, that are past. */
    void loseWhatIsPast(long now) {
        Passage nextPassage;
        for (Passage passage = state.passages.first(); passage != null; passage = nextPassage) {
            nextPassage = passage.next;
            if (passage.isHeld() && !loseIfPast(passage, now)) {
                Hold nextHold;
                for (Hold hold = passage.holds.first(); hold != null; hold = nextHold) {
                    nextHold = hold.next;
                    if (now - hold.deadlineNanos() >= 0) {
                        lose(hold, LossReason.MAX_HOLD_REACHED);
                    }
                }
            }
        }
    }

    /** Loses a grant that is past its deadline. True if it was. */
    boolean loseIfPast(Passage passage, long now) {
        if (!passage.isPast(now)) {
            return false;
        }
        lose(passage, LossReason.EXPIRED);
        return true;
    }

    /** Loses what is past, if a hold is. */
    void loseIfPast(Hold hold, long now) {
        if (hold.isOpen() && now - hold.deadlineNanos() >= 0) {
            loseWhatIsPast(now);
            rules.decide(now);
        }
    }

    void lose(Passage passage, LossReason reason) {
        rules.claims.end(passage);
        for (Hold hold = passage.holds.first(); hold != null; hold = passage.holds.first()) {
            lose(hold, reason);
        }
        rules.effects.add(new Effect.Discard(passage));
    }

    void lose(Hold hold, LossReason reason) {
        rules.remove(hold);
        state.owners.addLost(hold);
        runActions(hold.lose(reason), reason);
        publish(hold, reason);
    }

    /**
     * Before the lock is released, if it is still held in the engine: the holder that loses it is notified before the
     * next one gets it.
     */
    private void runActions(List<Consumer<LossReason>> actions, LossReason reason) {
        for (Consumer<LossReason> action : actions) {
            rules.effects.add(new Effect.RunLossAction(action, reason));
        }
    }

    /** The engine did not know a grant any more when its last hold was released: the hold was lost. */
    void loseReleased(Hold hold, long now) {
        LossReason reported = hold.passage.reportedLoss();
        boolean past = hold.passage.isPast(now);
        LossReason reason = reported != null ? reported : past ? LossReason.EXPIRED : LossReason.REVOKED;
        if (hold.endRelease(reason)) {
            runActions(hold.takeLossActions(), reason);
            publish(hold, reason);
        }
    }

    private void publish(Hold hold, LossReason reason) {
        rules.effects.add(new Effect.ReportLoss(hold, reason));
        client.events().lost(name, hold.mode, reason);
        rules.notifyListeners();
        if (client.events().observers().isAny()) {
            rules.effects.addUsersCode(new Effect.ReportEnd(hold));
        }
    }

    /**
     * An engine does not make conflicting grants: of two such grants it has ended the older one, and its notification
     * is late or lost.
     */
    void loseOverruled(Passage fresh) {
        Passage next;
        for (Passage other = state.passages.first(); other != null && fresh.isHeld(); other = next) {
            next = other.next;
            if (other != fresh && other.isHeld() && conflict(fresh, other)) {
                boolean late = other.heldGrant().token() > fresh.heldGrant().token();
                lose(late ? fresh : other, LossReason.REVOKED);
            }
        }
    }

    /** Grants of two engines say nothing about each other. */
    static boolean conflict(Passage fresh, Passage other) {
        return (fresh.heldMode() == LockMode.EXCLUSIVE || other.isSurelyExclusive())
                && !fresh.isForeign()
                && !other.isForeign();
    }
}
