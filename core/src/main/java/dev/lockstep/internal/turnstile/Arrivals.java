package dev.lockstep.internal.turnstile;

import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockMode;
import dev.lockstep.LockOptions;
import dev.lockstep.SelfDeadlockException;
import org.jspecify.annotations.Nullable;

/**
 * How a turnstile receives a call: it has a hold at once, or a result, or it asks the engine, or it waits. Every method is
 * called with the mutex held. The Overview is in {@link Turnstile}.
 */
final class Arrivals {
    private final Rules rules;
    private final TurnstileState state;
    private final TurnstileContext client;
    private final Turnstile turnstile;
    private final String name;

    Arrivals(Rules rules, Turnstile turnstile) {
        this.rules = rules;
        this.state = rules.state;
        this.client = turnstile.client();
        this.turnstile = turnstile;
        this.name = turnstile.name();
    }

    /**
     * Gives a call its hold or its result, or queues it.
     *
     * <pre>
     *   nobody is here, and it is the call of a thread: the thread claims, and takes the grant itself
     *   it holds the lock already: it enters again
     *   the lock is fair: it has its own claim
     *   a grant that is here can serve it: it has a hold
     *   it waits: it is queued, and claimed for if need be
     *   it does not wait: another local hold stands against it, or it has its own claim
     * </pre>
     */
    Entry admit(Call call) {
        client.ensureOpen();
        state.purge();
        adopt(call.options());
        Thread owner = call.owner();
        if (owner != null && mayClaimInline(call, owner)) {
            return rules.claims.claimInline(call, client.requestNanos());
        }
        long now = client.nanoTime();
        Hold own = owner == null ? null : admitOwner(call, owner, now);
        if (own != null) {
            return own;
        }
        if (state.options().isFair()) {
            return claimAlone(call, false, now);
        }
        return admit(call, now);
    }

    /**
     * Lets a call that does not wait claim the lock together with others, if nobody is here and nothing forbids it to go
     * first. It has a claim of its own like every such call, which its batch submits. Null if it must arrive alone.
     */
    @Nullable
    Waiter admitToBatch(Call call, long sentNanos) {
        client.ensureOpen();
        if (!state.isIdle() || call.mode() != LockMode.EXCLUSIVE || state.yields()) {
            return null;
        }
        adopt(call.options());
        Waiter waiter = new Waiter(turnstile, call, sentNanos);
        rules.claims.claimInBatch(waiter, sentNanos);
        return waiter;
    }

    private Entry admit(Call call, long now) {
        boolean lost = false;
        Passage next;
        for (Passage passage = state.passages.first(); passage != null; passage = next) {
            next = passage.next;
            if (passage.isHeld() && rules.losses.loseIfPast(passage, now)) {
                lost = true;
            } else if (passage.isHeld() && mayJoin(passage, call, now)) {
                if (passage.holds.isEmpty()) {
                    rules.bypassFirst();
                }
                return held(call, rules.assign(passage, call, now, now), now);
            }
        }
        if (call.mayWait()) {
            Waiter waiter = waiter(call, now);
            state.queue.add(waiter);
            rules.releaseUseless(now);
            rules.claims.claimIfNeeded(call, now);
            return waiter;
        }
        if (lost) {
            rules.decide(now); // others may wait for what is free now
        }
        if (heldAgainst(call)) {
            Waiter refused = new Waiter(turnstile, call, now);
            rules.finish(refused, Result.BUSY);
            return refused;
        }
        return claimAlone(call, !state.yields(), now);
    }

    /** Fairness, stickiness and reentrancy belong to the name while it is in use. */
    private void adopt(LockOptions wish) {
        if (TurnstileState.agree(wish, state.options())) {
            return;
        }
        if (!state.isIdle()) {
            throw new LockConfigurationException(
                    name,
                    "Lock '" + name + "' is in use with " + state.options() + " and cannot be used with " + wish
                            + " meanwhile. Use the same fairness, stickiness and reentrancy for a name everywhere.");
        }
        state.agreeOn(wish);
    }

    /** Whether nothing is in the way of a thread: then it asks the engine itself, without a place in the queue. */
    private boolean mayClaimInline(Call call, Thread owner) {
        return state.isEmpty()
                && call.mode() == LockMode.EXCLUSIVE
                && owner == Thread.currentThread()
                && !state.options().isFair()
                && !state.owners.hasLost();
    }

    private Waiter claimAlone(Call call, boolean mayBarge, long now) {
        Waiter waiter = waiter(call, now);
        if (call.mayWait()) {
            state.queue.add(waiter);
        }
        rules.claims.claimFor(waiter, mayBarge, now);
        return waiter;
    }

    /** A call that waits, even if only for the engine's answer. */
    private Waiter waiter(Call call, long now) {
        if (call.callback() != null) {
            rules.effects.add(new Effect.WatchOutage(now));
        }
        return new Waiter(turnstile, call, now);
    }

    /** A call without a thread receives its hold like every other result. */
    private Entry held(Call call, Hold hold, long now) {
        if (call.callback() == null) {
            return hold;
        }
        Waiter served = new Waiter(turnstile, call, now);
        rules.finish(served, new Result.Held(hold));
        return served;
    }

    /** Re-entry, downgrade and self-deadlock: what depends on the thread's own holds. Null if it has none. */
    private @Nullable Hold admitOwner(Call call, Thread thread, long now) {
        Hold written = state.owners.writer(thread);
        Hold read = state.owners.reader(thread);
        Hold own = written != null ? written : read;
        if (own != null && now - own.deadlineNanos() >= 0) {
            rules.losses.loseWhatIsPast(now);
            rules.decide(now);
        }
        Hold lost = state.owners.lost(thread);
        if (lost != null) {
            throw lost.lostException();
        }
        if (own == null) {
            return null;
        }
        boolean reentrant = state.options().isReentrant();
        Hold same = call.mode() == LockMode.EXCLUSIVE ? written : read;
        if (reentrant && same != null) {
            same.endBy(call.options(), now);
            rules.effects.watchDeadline(same.deadlineNanos());
            return same;
        }
        if (reentrant && written != null) {
            return rules.assign(written.passage, call, now, now);
        }
        throw new SelfDeadlockException(
                name,
                reentrant
                        ? "Lock '" + name + "': this thread holds the read lock and cannot acquire the write lock; it"
                                + " would wait for itself. Release the read lock first."
                        : "Lock '" + name + "' is not reentrant and this thread holds it already; it would wait for"
                                + " itself.");
    }

    /** Whether a call that just arrived may use a grant that is here: join readers, or barge on an idle grant. */
    private boolean mayJoin(Passage passage, Call call, long now) {
        boolean free = passage.holds.isEmpty() || !state.queue.hasExclusive();
        return free && Rules.fits(passage, call.mode()) && rules.mayServe(passage, call, now);
    }

    /** Whether a call that may not wait can be answered from here: another local hold stands against it. */
    private boolean heldAgainst(Call call) {
        for (Passage passage = state.passages.first(); passage != null; passage = passage.next) {
            if (passage.isHeld()
                    && (call.mode() == LockMode.EXCLUSIVE || passage.writer() != null || state.queue.hasExclusive())) {
                return true;
            }
        }
        return false;
    }
}
