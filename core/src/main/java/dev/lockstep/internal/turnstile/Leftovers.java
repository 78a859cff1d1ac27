package dev.lockstep.internal.turnstile;

import dev.lockstep.spi.Scheduler;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Passages that are no longer needed here, but that the engine may still have: claims that are being withdrawn, and
 * grants that are being released. Every method is called with the mutex held. The Overview is in {@link Turnstile}.
 */
final class Leftovers {
    /*
     * While a leftover blocks the queue, the queue makes no claim, so the engine's other answers prove nothing about the
     * lock. A claim for a single call can be refused because of this client's own leftover.
     *
     * At first that is correct: a client that releases the lock still holds it for the others until the engine has
     * confirmed. After the request timeout its owner knows that this was not confirmed, and holds nothing any more: it
     * is overdue. An engine that answers but cannot write makes this last for the ttl; then it is unknown who holds the
     * lock, and no call without a deadline should wait for it.
     */

    private final Rules rules;
    private final TurnstileState state;
    private final TurnstileContext client;

    Leftovers(Rules rules, Turnstile turnstile) {
        this.rules = rules;
        this.state = rules.state;
        this.client = turnstile.client();
    }

    // ---------------------------------------------------------------- what is known of them

    /** Whether the engine has not confirmed that a passage has left, for so long that no call waits for it any more. */
    private boolean isOverdue(Passage passage, long now) {
        return now - passage.owedSince(now) >= client.requestTimeoutNanos();
    }

    boolean isAnyOverdue(long now) {
        for (Passage passage = state.passages.first(); passage != null; passage = passage.next) {
            if (passage.isLeaving() && isOverdue(passage, now)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Whether the waiters in the queue only wait for passages that are leaving, so that the engine was not asked for
     * them.
     */
    boolean holdUpTheQueue() {
        boolean inTheWay = false;
        for (Passage passage = state.passages.first(); passage != null; passage = passage.next) {
            if (passage.isHeld() || passage.isClaiming() && passage.only() == null) {
                return false;
            }
            inTheWay |= passage.isInTheWay();
        }
        return inTheWay && !state.options().isFair();
    }

    /** The time since which leftovers have blocked the queue, but not before {@code earliest}. */
    long heldUpSince(long earliest, long now) {
        long since = earliest;
        for (Passage passage = state.passages.first(); passage != null; passage = passage.next) {
            if (passage.isInTheWay() && passage.owedSince(now) - since > 0) {
                since = passage.owedSince(now);
            }
        }
        return since;
    }

    /**
     * How the passage that blocks the queue is leaving, if it began to leave after a call came: a grant that was here
     * until then, or a claim by which the engine was asked. Null if the call came later.
     */
    @Nullable
    PassageState leftAfter(Waiter waiter, long now) {
        PassageState found = null;
        for (Passage passage = state.passages.first(); passage != null; passage = passage.next) {
            if (passage.isInTheWay()
                    && found != PassageState.RELEASING
                    && passage.owedSince(now) - waiter.startNanos > 0) {
                found = passage.state();
            }
        }
        return found;
    }

    private List<Passage> notOverdue(Predicate<Passage> condition, long now) {
        List<Passage> found = List.of(); // most often there are none
        for (Passage passage = state.passages.first(); passage != null; passage = passage.next) {
            if (passage.isLeaving() && condition.test(passage) && !isOverdue(passage, now)) {
                found = found.isEmpty() ? new ArrayList<>(2) : found;
                found.add(passage);
            }
        }
        return found;
    }

    // ---------------------------------------------------------------- who waits for them

    /**
     * Done when the engine no longer has the claims that are being withdrawn, or after the request timeout. Null if
     * there are none. A hold may come from another grant than the claim that was made for it; its release waits for
     * that claim, too: until it is gone, another client's call could be refused because of it.
     */
    @Nullable
    CompletableFuture<Void> withdrawn(long now) {
        if (state.passages.size() == 1) {
            return null; // there is nothing but the grant that is being released
        }
        List<Passage> leaving =
                notOverdue(passage -> passage.state() == PassageState.WITHDRAWING && passage.only() == null, now);
        if (leaving.isEmpty()) {
            return null;
        }
        CompletableFuture<Void> done =
                CompletableFuture.allOf(leaving.stream().map(Passage::whenGone).toArray(CompletableFuture[]::new));
        rules.effects.add(new Effect.CompleteLater(done, client.requestTimeoutNanos()));
        return done;
    }

    /**
     * Ends a call that gave up. It has its result when nothing that it may have left behind is in the engine any more:
     * until then, another client's call could be refused because of a call that has returned. It has the result anyway
     * when the engine has owed an answer for the request timeout, and it does not wait for passages that are overdue
     * already.
     */
    void leave(Waiter waiter, Result answer, long now) {
        waiter.leave(answer);
        state.queue.leaves(waiter); // before the passages are looked at, since they may end without the mutex
        List<Passage> leaving = notOverdue(passage -> passage.only() == null || passage.only() == waiter, now);
        waiter.leaveAfter(leaving);
        finishLeaving();
        if (waiter.result() == null) {
            long patience = client.engineOwesSince(now) + client.requestTimeoutNanos() - now;
            rules.effects.add(new Effect.EndLeaving(waiter, Math.max(patience, 0)));
        }
    }

    /** A timer has been set that ends a call which gave up. The call may have its result already. */
    void endsBy(Waiter waiter, Scheduler.Timer timer) {
        if (waiter.result() == null) {
            waiter.endsBy(timer);
        } else {
            rules.effects.add(new Effect.CancelTimer(timer));
        }
    }

    /** Completes the calls that have given up and have nothing left in the engine. */
    void finishLeaving() {
        Waiter next;
        for (Waiter waiter = state.queue.firstLeaving(); waiter != null; waiter = next) {
            next = waiter.next;
            if (waiter.hasLeft()) {
                finishLeaving(waiter);
            }
        }
    }

    /** Completes all calls that have given up. */
    void finishLeavingNow() {
        for (Waiter waiter = state.queue.firstLeaving(); waiter != null; waiter = state.queue.firstLeaving()) {
            finishLeaving(waiter);
        }
    }

    void finishLeaving(Waiter waiter) {
        if (waiter.hasGivenUp() && state.queue.left(waiter)) {
            Scheduler.Timer timer = waiter.takeTimer();
            if (timer != null) {
                rules.effects.add(new Effect.CancelTimer(timer));
            }
            Result answer = waiter.answer();
            if (answer != null) {
                rules.finish(waiter, answer);
            }
        }
    }
}
