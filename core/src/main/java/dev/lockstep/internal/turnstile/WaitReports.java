package dev.lockstep.internal.turnstile;

import dev.lockstep.spi.Claim;

/**
 * When observers learn that a call waits: not while the engine's first answer is on its way, since the lock may be free.
 * Every method is called with the mutex held.
 */
final class WaitReports {
    private final Rules rules;
    private final TurnstileState state;

    WaitReports(Rules rules) {
        this.rules = rules;
        this.state = rules.state;
    }

    /** Keeps a report until the engine has answered that its call must wait. True if that is known already. */
    boolean add(Waiter waiter, Runnable report, long now) {
        if (waiter.isOver()) {
            return false;
        }
        if (rules.answers.isHeldHere(now) || isBehindAnother(waiter) || isRefused(waiter)) {
            return true;
        }
        waiter.reportWaitBy(report);
        return false;
    }

    private boolean isBehindAnother(Waiter waiter) {
        return waiter.passage() == null && state.queue.first() != waiter;
    }

    private boolean isRefused(Waiter waiter) {
        for (Passage passage = state.passages.first(); passage != null; passage = passage.next) {
            Claim claim = passage.claim();
            if (isFor(passage, waiter) && passage.isClaiming() && claim != null && claim.mustWait()) {
                return true;
            }
        }
        return false;
    }

    /** The engine has answered that a claim must wait. */
    void waiting(Passage passage) {
        for (Waiter waiter = state.queue.first(); waiter != null; waiter = waiter.next) {
            Runnable report = isFor(passage, waiter) ? waiter.takeWaitReport() : null;
            if (report != null) {
                rules.effects.addUsersCode(new Effect.ReportWait(report));
            }
        }
    }

    /** A claim serves the call that it belongs to, or all that have none of their own. */
    private static boolean isFor(Passage passage, Waiter waiter) {
        return waiter.passage() == null || waiter.passage() == passage;
    }
}
