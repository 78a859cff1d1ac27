package dev.lockstep.internal.turnstile;

import dev.lockstep.LockMode;
import dev.lockstep.LossReason;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.Grant;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Outcome;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The requests of a turnstile to the engine, and its reactions to the answers. Every method is called with the mutex
 * held. The Overview is in {@link Turnstile}.
 */
final class Claims {
    private final Rules rules;
    private final TurnstileState state;
    private final TurnstileContext client;
    private final Turnstile turnstile;

    Claims(Rules rules, Turnstile turnstile) {
        this.rules = rules;
        this.state = rules.state;
        this.client = turnstile.client();
        this.turnstile = turnstile;
    }

    // ---------------------------------------------------------------- asking

    /** Claims for the first waiter, unless a claim is on its way or a passage here will serve it. */
    void claimIfNeeded(long now) {
        Passage claim = forFirst(LockBackend.DO_NOT_BLOCK, now);
        if (claim != null) {
            rules.effects.add(new Effect.Submit(claim));
        }
    }

    /** Claims likewise, in the thread of a call that has just arrived and may block for the round trip. */
    void claimIfNeeded(Call arriving, long now) {
        Passage claim = forFirst(arriving.blockAtMost(), now);
        if (claim != null) {
            rules.effects.addOwn(new Effect.Submit(claim));
        }
    }

    private @Nullable Passage forFirst(Duration blockAtMost, long now) {
        Waiter first = state.queue.first();
        if (first == null || state.options().isFair()) {
            return null;
        }
        boolean overBudget = false;
        for (Passage passage = state.passages.first(); passage != null; passage = passage.next) {
            if (passage.waitsForQueue()
                    || passage.state() == PassageState.RELEASING
                    || passage.isHeld() && passage.heldMode() == LockMode.EXCLUSIVE) {
                return null;
            }
            overBudget |= passage.isHeld() && first.mode() == LockMode.SHARED;
        }
        boolean barge = !state.endYield() && !overBudget;
        return begin(new PassageRequest.Terms(first.mode(), true, barge, blockAtMost, now, first.call.threadName()));
    }

    /** A claim that is for one call alone. */
    private Passage forOne(Waiter waiter, boolean mayBarge, Duration blockAtMost, long now) {
        Call call = waiter.call;
        Passage passage = begin(
                new PassageRequest.Terms(call.mode(), call.mayWait(), mayBarge, blockAtMost, now, call.threadName()),
                waiter);
        waiter.claimsBy(passage);
        return passage;
    }

    /** Claims for a call that has just arrived, in its own thread. */
    void claimFor(Waiter arriving, boolean mayBarge, long now) {
        rules.effects.addOwn(new Effect.Submit(forOne(arriving, mayBarge, arriving.call.blockAtMost(), now)));
    }

    /** Claims for a call that joins a batch, which submits the claim. */
    void claimInBatch(Waiter joining, long sentNanos) {
        forOne(joining, !state.options().isFair(), joining.call.blockAtMost(), sentNanos);
    }

    /** The claim of a thread that finds no other call here, and asks the engine itself. */
    Passage claimInline(Call call, long now) {
        boolean barge = !state.endYield();
        Passage passage = begin(new PassageRequest.Terms(
                call.mode(), call.mayWait(), barge, call.blockAtMost(), now, call.threadName()));
        passage.beginInline();
        return passage;
    }

    private Passage begin(PassageRequest.Terms terms) {
        return begin(new Passage(turnstile, terms, state.nextClaimNumber()));
    }

    private Passage begin(PassageRequest.Terms terms, Waiter only) {
        return begin(new Passage(turnstile, terms, state.nextClaimNumber(), only));
    }

    private Passage begin(Passage passage) {
        state.passages.add(passage);
        return passage;
    }

    /** The backend has the claim; one that was given up meanwhile can be withdrawn only now. */
    void submitted(Passage passage, Claim claim) {
        passage.submitted(claim);
        if (passage.state() == PassageState.WITHDRAWING) {
            rules.effects.add(new Effect.Withdraw(passage, claim));
        }
    }

    // ---------------------------------------------------------------- the answer

    /** The engine has answered a claim, or its outcome is unknown. */
    void concluded(Passage passage, @Nullable Outcome outcome, @Nullable Throwable error, long now) {
        Waiter only = passage.only();
        if (passage.isClaiming()) {
            if (outcome instanceof Outcome.Granted granted) {
                granted(passage, granted.grant(), now);
            } else if (outcome instanceof Outcome.Busy && only != null && !passage.mayWait()) {
                end(passage);
                rules.finish(only, rules.answers.refused(now));
            } else {
                failed(passage, error);
            }
        } else if (passage.state() == PassageState.WITHDRAWING && passage.claim() == null) {
            end(passage); // it was given up before it was submitted, and could not be submitted
        }
    }

    private void granted(Passage passage, Grant grant, long now) {
        passage.granted(grant);
        passage.transitionTo(PassageState.HELD);
        LossReason reported = passage.reportedLoss();
        if (reported != null) {
            rules.losses.lose(passage, reported);
        }
        rules.losses.loseOverruled(passage);
        boolean lostAtOnce = !passage.isHeld();
        if (lostAtOnce || rules.losses.loseIfPast(passage, now)) {
            grantedInVain(passage, lostAtOnce, now);
            return;
        }
        Waiter only = passage.only();
        if (only != null) {
            rules.bypassFirst();
        }
        Waiter first = only != null ? only : state.queue.firstOf(passage.heldMode());
        if (first != null
                && (only != null || first != state.queue.first() || first.thread() == Thread.currentThread())) {
            state.queue.remove(first);
            rules.assign(passage, first, now);
        }
    }

    /**
     * The grant was lost before it could be used. The queue is claimed for again anyway; a call with its own claim,
     * here. A call that does not wait is claimed for again if the engine has revoked the lock, since it is unknown who
     * has it now; if the answer was too slow, the engine is unavailable to it.
     */
    private void grantedInVain(Passage passage, boolean lostAtOnce, long now) {
        Waiter only = passage.only();
        if (only == null) {
            return;
        }
        boolean again = lostAtOnce && now - only.startNanos < client.requestTimeoutNanos();
        if (only.mayWait() || again) {
            // In the thread that brought the answer, which may be the one that the next answer needs.
            rules.effects.add(new Effect.Submit(forOne(only, false, LockBackend.DO_NOT_BLOCK, now)));
        } else {
            rules.finish(only, rules.answers.unavailable(now - passage.sentNanos()));
        }
    }

    /** The backend does not know the outcome of a claim: withdraws it, and reports that. */
    private void failed(Passage passage, @Nullable Throwable error) {
        if (passage.claim() == null) {
            end(passage);
        } else {
            withdraw(passage);
        }
        Result failure = rules.answers.failed(error);
        Waiter only = passage.only();
        if (only != null) {
            state.queue.remove(only);
            rules.finish(only, failure);
            return;
        }
        LockMode mode = passage.heldMode();
        for (Waiter waiter = state.queue.firstOf(mode); waiter != null; waiter = state.queue.firstOf(mode)) {
            state.queue.remove(waiter);
            rules.finish(waiter, failure);
        }
    }

    // ---------------------------------------------------------------- giving up

    /** Withdraws a claim for the queue that no waiter needs any longer. */
    void withdrawUseless() {
        for (Passage passage = state.passages.first(); passage != null; passage = passage.next) {
            if (passage.isClaiming()
                    && passage.only() == null
                    && !passage.isInline()
                    && state.queue.firstOf(passage.heldMode()) == null) {
                withdraw(passage);
            }
        }
    }

    void withdraw(Passage passage) {
        passage.transitionTo(PassageState.WITHDRAWING);
        Claim claim = passage.claim();
        if (claim != null) {
            rules.effects.add(new Effect.Withdraw(passage, claim));
        }
    }

    /** The engine no longer has a passage. */
    void end(Passage passage) {
        passage.transitionTo(PassageState.GONE);
        CompletableFuture<Void> gone = passage.gone();
        if (gone != null) {
            rules.effects.add(new Effect.Complete(gone));
        }
        state.passages.remove(passage);
    }
}
