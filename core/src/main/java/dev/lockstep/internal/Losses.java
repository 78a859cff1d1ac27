package dev.lockstep.internal;

import dev.lockstep.LockMode;
import dev.lockstep.LossReason;
import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How a turnstile loses grants and holds: by their deadlines, by the engine's word, or by a younger grant. Every method is
 * called with the mutex held. The Overview is in {@link Turnstile}.
 */
final class Losses {
    private static final Logger log = LoggerFactory.getLogger(Losses.class);

    private final Rules rules;
    private final Client client;
    private final String name;
    private final Mutex mutex;
    private final Courier courier;

    Losses(Rules rules, Turnstile turnstile, Mutex mutex, Courier courier) {
        this.rules = rules;
        this.client = turnstile.client();
        this.name = turnstile.name();
        this.mutex = mutex;
        this.courier = courier;
    }

    /** Ends the grants, and the maximum times of holds, that are past. */
    void loseWhatIsPast(long now) {
        Passage nextPassage;
        for (Passage passage = rules.passages.first(); passage != null; passage = nextPassage) {
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
        if (now - passage.heldGrant().validUntilNanos() < 0) {
            return false;
        }
        lose(passage, LossReason.EXPIRED);
        return true;
    }

    void lose(Passage passage, LossReason reason) {
        rules.end(passage);
        for (Hold hold = passage.holds.first(); hold != null; hold = passage.holds.first()) {
            lose(hold, reason);
        }
        mutex.later(() -> courier.discard(passage));
    }

    void lose(Hold hold, LossReason reason) {
        rules.remove(hold);
        rules.owners.addLost(hold);
        runActions(hold.lose(reason), reason);
        publish(hold, reason);
    }

    /** Before the lock is released, if it is still held at the engine: who loses it hears of that before the next has it. */
    private void runActions(List<Consumer<LossReason>> actions, LossReason reason) {
        for (Consumer<LossReason> action : actions) {
            mutex.later(() -> client.runLossAction(name, action, reason));
        }
    }

    /** The engine did not know a grant any more when its last hold was released: the hold was lost. */
    void loseReleased(Hold hold, long now) {
        LossReason told = hold.passage.toldLoss();
        boolean past = now - hold.passage.heldGrant().validUntilNanos() >= 0;
        LossReason reason = told != null ? told : past ? LossReason.EXPIRED : LossReason.REVOKED;
        if (hold.endRelease(reason)) {
            runActions(hold.takeLossActions(), reason);
            publish(hold, reason);
        }
    }

    private void publish(Hold hold, LossReason reason) {
        mutex.later(() -> warn(hold, reason));
        client.events().lost(name, hold.mode, reason);
        rules.notifyListeners();
    }

    /** Outside the mutex. A client that is closed was closed by somebody: that is no news. */
    private void warn(Hold hold, LossReason reason) {
        if (reason == LossReason.CLIENT_CLOSED) {
            log.debug("Lock '{}' was released because its client was closed", name);
            return;
        }
        long token = hold.drawnToken();
        log.warn(
                "Lock '{}' was lost: {} ({}). It had been held for {} ms, {}. Another holder may have it now",
                name,
                reason.explanation(),
                reason,
                (client.nanoTime() - hold.sinceNanos) / 1_000_000,
                token == 0 ? "and nobody had asked for its token" : "with token " + token);
    }

    /**
     * An engine does not grant what conflicts: of two such grants it has ended the older one, and its word of that is late
     * or lost.
     */
    void loseOverruled(Passage fresh) {
        Passage next;
        for (Passage other = rules.passages.first(); other != null && fresh.isHeld(); other = next) {
            next = other.next;
            if (other != fresh && other.isHeld() && conflict(fresh, other)) {
                boolean late = other.heldGrant().token() > fresh.heldGrant().token();
                lose(late ? fresh : other, LossReason.REVOKED);
            }
        }
    }

    /** Grants of two engines, of which one is the fallback, say nothing about each other. */
    private static boolean conflict(Passage fresh, Passage other) {
        return (fresh.mode == LockMode.EXCLUSIVE || other.isSurelyExclusive())
                && !fresh.isFallback()
                && !other.isFallback();
    }
}
