package dev.lockstep.internal.turnstile;

import dev.lockstep.LockMode;
import dev.lockstep.LossReason;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The rules by which a turnstile decides which calls use a grant, and which grants are kept and released. It reads and
 * writes the {@link TurnstileState} and leaves {@link Effects}; it does nothing else. Every method is called with the
 * mutex held. The Overview is in {@link Turnstile}.
 */
final class Rules {
    final TurnstileState state;
    final Effects effects;
    final Claims claims;
    final Leftovers leftovers;
    final Losses losses;
    final Answers answers;
    private final Turnstile turnstile;
    private final TurnstileContext client;
    private final String name;

    /** The release that is being decided: its hold ends as released if its grant stays here. */
    private @Nullable HoldRelease ending;

    Rules(Turnstile turnstile, TurnstileState state, Effects effects) {
        this.turnstile = turnstile;
        this.client = turnstile.client();
        this.name = turnstile.name();
        this.state = state;
        this.effects = effects;
        this.claims = new Claims(this, turnstile);
        this.leftovers = new Leftovers(this, turnstile);
        this.losses = new Losses(this, turnstile);
        this.answers = new Answers(this, turnstile);
    }

    // ---------------------------------------------------------------- deciding

    /** Decides, in the thread of a waiter, which can take an offer at once. */
    void decide(Waiter taker, long now) {
        taker.beginTaking();
        decide(now);
        taker.endTaking();
    }

    /**
     * Decides what happens next. Called after everything that changed something.
     *
     * <pre>
     *   for each grant:
     *     past its deadline: it is lost
     *     let the waiters at the head of the queue use it, as far as they may
     *     nobody uses it: keep it if a minimum time is not over or the lock is sticky, or release it
     *   no local grant will serve the remaining waiters: claim for the first
     *   a claim that no waiter needs any longer: withdraw it
     *   a call that gave up, and nothing of it is left at the engine: it has its result
     *   what the engine is to store about holders that wait has changed: it is asked to
     * </pre>
     */
    void decide(long now) {
        Passage next;
        for (Passage passage = state.passages.first(); passage != null; passage = next) {
            next = passage.next;
            if (passage.state() == PassageState.GONE) {
                state.passages.remove(passage);
            } else if (passage.isHeld()
                    && !losses.loseIfPast(passage, now)
                    && !serve(passage, now)
                    && !keep(passage, now)
                    && !retain(passage, now)) {
                beginRelease(passage, now);
            }
        }
        claims.claimIfNeeded(now);
        claims.withdrawUseless();
        leftovers.finishLeaving();
        if (state.waits.isAny()) {
            state.waits.settle(effects);
        }
        CompletableFuture<Void> drained = state.drained();
        if (drained != null) {
            effects.add(new Effect.Complete(drained));
        }
    }

    /** Lets waiters use a grant. False if nobody does, and nobody is about to. */
    private boolean serve(Passage passage, long now) {
        if (!state.options().isFair()) {
            for (Waiter first = state.queue.first(); first != null; first = state.queue.first()) {
                if (!fits(passage, first.mode()) || !mayServe(passage, first.call, now)) {
                    break;
                }
                if (!first.isTaking() && mayOffer(first)) {
                    offer(first);
                    return true;
                }
                state.queue.remove(first);
                assign(passage, first, now);
            }
        }
        return !passage.holds.isEmpty();
    }

    private static boolean mayOffer(Waiter first) {
        return first.thread() != null && first.mode() == LockMode.EXCLUSIVE && HandOffs.mayOvertake(first);
    }

    private void offer(Waiter first) {
        if (first.offer()) {
            effects.add(new Effect.Wake(first.thread()));
        }
    }

    /** Another call takes what the first in the queue waits for. */
    void bypassFirst() {
        Waiter first = state.queue.first();
        if (first != null) {
            first.bypass();
        }
    }

    /** Whether a grant can serve a mode now. */
    static boolean fits(Passage passage, LockMode mode) {
        if (mode == LockMode.SHARED) {
            return passage.writer() == null;
        }
        return passage.isSurelyExclusive() && passage.holds.isEmpty();
    }

    /** Whether a grant may go to one more local hold without asking the engine. */
    boolean mayServe(Passage passage, Call call, long now) {
        return passage.mayServe(call, client.traits().reportsWanted(), now);
    }

    /** Lets a waiter use a grant. */
    void assign(Passage passage, Waiter waiter, long now) {
        finish(waiter, new Result.Held(assign(passage, waiter.call, waiter.startNanos, now)));
    }

    /** Makes a hold for a call that came at a time. */
    Hold assign(Passage passage, Call call, long startNanos, long now) {
        if (passage.state() == PassageState.RETAINED) {
            passage.transitionTo(PassageState.HELD);
        }
        if (passage.isUsed() && passage.writer() == null) { // a thread that reads under its own lock hands nothing on
            passage.handedOff();
            endReleasedHere(passage, now); // comes before what follows it
            publishHandOff(call);
        }
        Hold hold = new Hold(turnstile, passage, call.mode(), call.options(), call.owner(), now);
        passage.add(hold);
        state.owners.add(hold);
        if (call.mode() == LockMode.EXCLUSIVE) {
            passage.forgetDowngrade();
        } else if (passage.writer() == null) {
            downgrade(passage);
        }
        effects.watchDeadline(hold.deadlineNanos());
        client.events().acquired(name, call.mode(), now - startNanos);
        notifyListeners();
        return hold;
    }

    private void publishHandOff(Call next) {
        client.events().handedOff(name, next.mode(), next.options());
        if (client.events().observers().isAny()) {
            effects.addUsersCode(new Effect.ReportHandOff(next.mode(), next.options()));
        }
    }

    /** Delivers published events to listeners, when the mutex has been left. */
    void notifyListeners() {
        if (client.events().isHeard()) {
            effects.addUsersCode(new Effect.Publish());
        }
    }

    /** Gives a call its result. */
    void finish(Waiter waiter, Result result) {
        waiter.finish(result);
        var callback = waiter.call.callback();
        if (callback != null) {
            effects.addUsersCode(new Effect.Answer(callback, result));
        } else if (waiter.thread() != Thread.currentThread()) {
            effects.add(new Effect.Wake(waiter.thread()));
        }
    }

    /** Takes a call that gets nothing out of the queue. */
    void abandon(Waiter waiter) {
        state.queue.remove(waiter);
        Passage passage = waiter.passage();
        if (passage != null && passage.isClaiming()) {
            claims.withdraw(passage);
        }
    }

    /** Ends a wait by an answer. */
    void end(Waiter waiter, Result answer, long now) {
        abandon(waiter);
        decide(now);
        if (answer instanceof Result.Failed) {
            finish(waiter, answer); // the engine is unreachable: there is nothing to wait for
        } else {
            leftovers.leave(waiter, answer, now);
        }
    }

    // ---------------------------------------------------------------- keeping unused grants

    /** Keeps a grant that nobody uses for the rest of a minimum time. A client that closes leaves that to the engine. */
    private boolean keep(Passage passage, long now) {
        KeptTime kept = passage.kept();
        if (kept == null || kept.leftNanos(now) <= 0 || state.isClosing()) {
            return false;
        }
        if (kept.beginTimer()) {
            effects.add(new Effect.CheckKept(passage, kept.leftNanos(now)));
        }
        return true;
    }

    /** Keeps an unused grant, if the lock is sticky, the grant can serve any call, and no other client wants it. */
    private boolean retain(Passage passage, long now) {
        Duration sticky = state.options().sticky().orElse(null);
        if (sticky == null
                || state.isClosing()
                || !state.queue.isEmpty()
                || passage.isBudgeted()
                || passage.isWanted()
                || !passage.hasTokensLeft()
                || passage.heldMode() == LockMode.SHARED
                || passage.downgrade() != null) {
            return false;
        }
        if (passage.state() == PassageState.HELD) {
            passage.retain(now);
            if (passage.beginIdleTimer()) {
                effects.add(new Effect.CheckIdle(passage, sticky, sticky.toNanos()));
            }
        }
        return passage.idleNanos(now) < sticky.toNanos();
    }

    /** One timer for a passage, however often it is used: it looks, and looks again when the idle time can be over. */
    void checkIdle(Passage passage, Duration sticky, long now) {
        passage.endIdleTimer();
        if (!passage.isHeld()) {
            return;
        }
        decide(now);
        if (passage.isHeld() && passage.beginIdleTimer()) {
            long left = sticky.toNanos() - passage.idleNanos(now);
            effects.add(new Effect.CheckIdle(passage, sticky, left));
        }
    }

    // ---------------------------------------------------------------- releasing

    /**
     * Whether the clock need not be read for a release: with nobody to hand the grant to, and no other claim to wait for,
     * it goes to the engine, whose answer shows whether it was ours to the end.
     */
    boolean engineShowsLoss(Hold hold) {
        return state.queue.isEmpty()
                && state.passages.size() == 1
                && hold.passage.holds.size() == 1
                && !hold.hasMaxHold()
                && !hold.hasMinHold()
                && state.options().sticky().isEmpty()
                && !client.events().isHeard();
    }

    /** Ends a hold, and decides what happens to its grant: it stays here, or the release waits for the engine. */
    void release(HoldRelease release, long now) {
        Hold hold = release.hold;
        Passage passage = hold.passage;
        remove(hold);
        hold.beginRelease();
        if (hold.mode == LockMode.EXCLUSIVE && !passage.holds.isEmpty()) {
            passage.shareTokenOf(hold);
            if (!passage.isKeptFrom(LockMode.SHARED, now)) {
                downgrade(passage);
            }
        }
        ending = release;
        decide(now);
        if (passage.state() == PassageState.RELEASING) {
            release.waitAlsoFor(leftovers.withdrawn(now));
        } else {
            endReleasedHere(passage, now);
        }
        ending = null;
    }

    /** The grant stays here, so the hold on it that is being released is over. */
    private void endReleasedHere(Passage passage, long now) {
        HoldRelease release = ending;
        if (release != null && release.hold.passage == passage && release.hold.endRelease(Hold.Release.RELEASED)) {
            client.events().released(name, release.hold.mode, now - release.hold.sinceNanos);
            notifyListeners();
        }
    }

    private void beginRelease(Passage passage, long now) {
        passage.transitionTo(PassageState.RELEASING);
        if (passage.isBudgeted() || passage.isWanted()) {
            state.yieldNext();
        }
        KeptTime kept = passage.kept();
        Duration rest = kept == null ? Duration.ZERO : kept.rest(now);
        HoldRelease last = ending;
        if (last != null && last.hold.passage == passage) {
            last.leaveFor(rest);
            effects.addOwn(last);
        } else {
            effects.add(new Effect.Release(passage, rest));
        }
    }

    /** Releases grants that are kept but cannot serve the waiters. */
    void releaseUseless(long now) {
        for (Passage passage = state.passages.first(); passage != null; passage = passage.next) {
            if (passage.state() == PassageState.RETAINED && !serve(passage, now)) {
                beginRelease(passage, now);
            }
        }
    }

    void remove(Hold hold) {
        hold.passage.keepFor(hold);
        hold.passage.holds.remove(hold);
        state.owners.remove(hold);
        state.waits.end(hold);
    }

    /** Lets other clients' readers in beside the readers that use an exclusive grant. */
    private void downgrade(Passage passage) {
        CompletableFuture<Boolean> done = passage.beginDowngrade();
        if (done != null) {
            effects.add(new Effect.Downgrade(passage, done));
        }
    }

    // ---------------------------------------------------------------- closing

    /** The client closes: ends every wait and every hold, and gives up what is at the engine. */
    void close(CompletableFuture<Void> done, long now) {
        state.close(done);
        for (Waiter waiter = state.queue.first(); waiter != null; waiter = state.queue.first()) {
            abandon(waiter);
            finish(waiter, answers.closed());
        }
        leftovers.finishLeavingNow();
        for (Passage passage = state.passages.first(); passage != null; passage = passage.next) {
            close(passage);
        }
        decide(now);
    }

    private void close(Passage passage) {
        if (passage.isInline() && passage.endClaiming(PassageState.WITHDRAWING)) {
            return; // its thread will see it
        }
        Waiter only = passage.only();
        if (passage.isClaiming() && only != null) {
            claims.withdraw(passage);
            finish(only, answers.closed());
        } else if (passage.isHeld()) {
            for (Hold hold = passage.holds.first(); hold != null; hold = passage.holds.first()) {
                losses.lose(hold, LossReason.CLIENT_CLOSED);
            }
        }
    }
}
