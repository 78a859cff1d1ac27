package dev.lockstep.internal;

import dev.lockstep.LockMode;
import dev.lockstep.LockOptions;
import dev.lockstep.LossReason;
import dev.lockstep.internal.Passage.State;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.Grant;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Scheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * What a turnstile knows, and the rules by which it decides who uses a grant, and what is claimed and given back. Who
 * comes is the matter of {@link Admission}, what is lost that of {@link Losses}, what is not known that of {@link
 * Answers}. Every method is called with the mutex
 * held; what follows from a decision is put off until it is left. The Overview is in {@link Turnstile}.
 */
final class Rules {
    /** How often the first waiter may be overtaken by threads that happen to run. */
    static final int MAX_BYPASS = 64;

    /** How long a grant may be handed on locally once another client wants it. */
    static final long HAND_OFF_NANOS = 10_000_000;

    final WaitQueue queue = new WaitQueue();
    final Chain<Passage> passages = new Chain<>();
    final Owners owners = new Owners();

    /** What all users of the name must agree on while it is in use. */
    LockOptions options = LockOptions.defaults();

    /** The last grant was given back because others want it: the next claim queues behind them. */
    boolean yields;

    /** Done when the last passage is gone, once the client is being closed. */
    @Nullable
    CompletableFuture<Void> drained;

    /** A hold that ends as released if its grant stays here; while this is decided. */
    private @Nullable Hold ending;

    /** This turnstile has been let go; who still knows it must find its successor. */
    boolean retired;

    final Losses losses;
    final Answers answers;
    private final Turnstile turnstile;
    private final Client client;
    private final String name;
    private final Mutex mutex;
    private final Courier courier;
    private long claims;

    Rules(Turnstile turnstile, Mutex mutex, Courier courier) {
        this.turnstile = turnstile;
        this.client = turnstile.client();
        this.name = turnstile.name();
        this.mutex = mutex;
        this.courier = courier;
        this.losses = new Losses(this, turnstile, mutex, courier);
        this.answers = new Answers(this, turnstile);
    }

    // ---------------------------------------------------------------- deciding

    /**
     * Decides what happens next. Called after everything that changed something.
     *
     * <pre>
     *   for each grant:
     *     past its deadline: it is lost
     *     let the waiters at the head of the queue use it, as far as they may
     *     nobody uses it: keep it if a minimum time is not over or the lock is sticky, or give it back
     *   waiters are left whom nothing here will serve: claim for the first
     *   a claim that no waiter needs any longer: withdraw it
     * </pre>
     *
     * @param taker the waiter whose own thread calls, which can take an offer at once
     * @param mine the passage that the caller itself gives back if it is to be given back
     */
    void settle(long now, @Nullable Waiter taker, @Nullable Passage mine) {
        Passage next;
        for (Passage passage = passages.first(); passage != null; passage = next) {
            next = passage.next;
            if (passage.state() == State.GONE) {
                passages.remove(passage);
            } else if (passage.isHeld()
                    && !losses.loseIfPast(passage, now)
                    && !serve(passage, now, taker)
                    && !keep(passage, now)
                    && !retain(passage, now)) {
                beginRelease(passage, passage != mine);
            }
        }
        Passage claim = claimIfNeeded(LockBackend.DO_NOT_BLOCK, now);
        if (claim != null) {
            mutex.later(() -> courier.submit(claim));
        }
        for (Passage passage = passages.first(); passage != null; passage = passage.next) {
            if (passage.isClaiming()
                    && passage.only == null
                    && !passage.inline
                    && queue.firstOf(passage.mode) == null) {
                withdraw(passage);
            }
        }
        finishLeaving();
        if (drained != null && passages.isEmpty()) {
            CompletableFuture<Void> done = drained;
            mutex.later(() -> done.complete(null));
        }
    }

    /** Lets waiters use a grant. False if nobody does, and nobody is about to. */
    boolean serve(Passage passage, long now, @Nullable Waiter taker) {
        if (!options.isFair()) {
            for (Waiter first = queue.first(); first != null; first = queue.first()) {
                if (!fits(passage, first.mode) || !mayHandOff(passage, first, now)) {
                    break;
                }
                if (first != taker && mayOffer(first)) {
                    offer(first);
                    return true;
                }
                queue.remove(first);
                assign(passage, first, now);
            }
        }
        return !passage.holds.isEmpty();
    }

    static boolean mayOffer(Waiter first) {
        return first.thread != null && first.mode == LockMode.EXCLUSIVE && first.bypassed < MAX_BYPASS;
    }

    void offer(Waiter first) {
        if (!first.offered) {
            first.offered = true;
            mutex.later(() -> LockSupport.unpark(first.thread));
        }
    }

    /** Somebody takes what the first in the queue waits for. */
    void bypassFirst() {
        Waiter first = queue.first();
        if (first != null) {
            first.bypassed++;
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
    boolean mayHandOff(Passage passage, Waiter waiter, long now) {
        if (!passage.used) {
            return true;
        }
        if (passage.isKeptFrom(waiter.mode, now) || !passage.hasTokensLeft()) {
            return false;
        }
        if (!passage.budgeted) {
            if (client.traits().tellsWanted() && !passage.isWanted()) {
                return true;
            }
            passage.budgeted = true;
            passage.budgetNanos = now;
            passage.handOffs = 0;
        }
        return passage.handOffs < waiter.options.handOff() && now - passage.budgetNanos < HAND_OFF_NANOS;
    }

    void assign(Passage passage, Waiter waiter, long now) {
        if (passage.state() == State.RETAINED) {
            passage.transitionTo(State.HELD);
        }
        if (passage.used && passage.writer() == null) { // a thread that reads under its own write lock hands nothing on
            passage.handOffs++;
            endReleasedHere(passage, now); // comes before what follows it
            client.events().handedOff(name, waiter.mode);
        }
        Hold hold = new Hold(turnstile, passage, waiter.mode, waiter.options, waiter.thread, now);
        passage.add(hold);
        owners.add(hold);
        if (waiter.mode == LockMode.EXCLUSIVE) {
            passage.downgrade = null;
        } else if (passage.writer() == null) {
            downgrade(passage);
        }
        client.watchDeadline(hold.deadlineNanos());
        client.events().acquired(name, waiter.mode, now - waiter.startNanos);
        notifyListeners();
        finish(waiter, hold);
    }

    /** Lets listeners hear of what was published, when the mutex has been left. */
    void notifyListeners() {
        if (client.events().isHeard()) {
            mutex.last(client.events()::deliver);
        }
    }

    void finish(Waiter waiter, Object result) {
        waiter.finish(result);
        if (waiter.callback != null) {
            mutex.last(() -> client.complete(waiter, result));
        } else if (waiter.thread != Thread.currentThread()) {
            mutex.later(() -> LockSupport.unpark(waiter.thread));
        }
    }

    /**
     * Ends a call that gave up. It is told so when nothing that it may have left behind is at the engine any more: until then
     * another client's call could be refused because of one that has returned. After the request timeout it is told anyway,
     * and what is late already is not waited for.
     */
    void leave(Waiter waiter, Object answer, long now) {
        waiter.answer = answer;
        queue.leaves(waiter); // before the passages are looked at, since they may end without the mutex
        List<Passage> leaving = new ArrayList<>(2);
        for (Passage passage = passages.first(); passage != null; passage = passage.next) {
            if (passage.isLeaving()
                    && (passage.only == null || passage.only == waiter)
                    && now - passage.owedSince(now) < client.requestTimeoutNanos()) {
                leaving.add(passage);
            }
        }
        waiter.leaving = leaving;
        finishLeaving();
        if (waiter.result == null) {
            waiter.patience =
                    client.scheduler().schedule(client.requestTimeoutNanos(), () -> turnstile.leaveAnyway(waiter));
        }
    }

    private void finishLeaving() {
        Waiter next;
        for (Waiter waiter = queue.firstLeaving(); waiter != null; waiter = next) {
            next = waiter.next;
            if (waiter.leaving.stream().allMatch(passage -> passage.state() == State.GONE)) {
                finishLeaving(waiter);
            }
        }
    }

    void finishLeaving(Waiter waiter) {
        Object answer = waiter.answer;
        if (answer != null && queue.left(waiter)) {
            if (waiter.patience != null) {
                waiter.patience.cancel();
            }
            finish(waiter, answer);
        }
    }

    void abandon(Waiter waiter) {
        queue.remove(waiter);
        Passage passage = waiter.passage;
        if (passage != null && passage.isClaiming()) {
            withdraw(passage);
        }
    }

    /** Keeps a grant that nobody uses for the rest of a minimum time. A client that closes leaves that to the engine. */
    private boolean keep(Passage passage, long now) {
        long left = passage.keptNanos(now);
        if (left <= 0 || drained != null) {
            return false;
        }
        if (!passage.keptTimer) {
            passage.keptTimer = true;
            client.scheduler().schedule(left, () -> turnstile.checkKept(passage));
        }
        return true;
    }

    /** Keeps a grant that nobody uses, if the lock is sticky, it can serve whoever comes, and nobody else wants it. */
    boolean retain(Passage passage, long now) {
        Duration sticky = options.sticky().orElse(null);
        if (sticky == null
                || drained != null
                || !queue.isEmpty()
                || passage.budgeted
                || passage.isWanted()
                || !passage.hasTokensLeft()
                || passage.mode == LockMode.SHARED
                || passage.downgrade != null) {
            return false;
        }
        if (passage.state() == State.HELD) {
            passage.transitionTo(State.RETAINED);
            passage.idleSinceNanos = now;
            if (!passage.idleTimer) {
                passage.idleTimer = true;
                client.scheduler().schedule(sticky.toNanos(), () -> turnstile.checkIdle(passage, sticky));
            }
        }
        return now - passage.idleSinceNanos < sticky.toNanos();
    }

    // ---------------------------------------------------------------- claiming

    /** The claim for whoever stands first, unless one is on its way or something here will serve it. */
    @Nullable
    Passage claimIfNeeded(Duration blockAtMost, long now) {
        Waiter first = queue.first();
        if (first == null || options.isFair()) {
            return null;
        }
        boolean overBudget = false;
        for (Passage passage = passages.first(); passage != null; passage = passage.next) {
            if (passage.waitsForQueue()
                    || passage.state() == State.RELEASING
                    || passage.isHeld() && passage.mode == LockMode.EXCLUSIVE) {
                return null;
            }
            overBudget |= passage.isHeld() && first.mode == LockMode.SHARED;
        }
        boolean barge = !yields && !overBudget;
        yields = false;
        return claim(first.mode, true, barge, blockAtMost, now, first.threadName, null);
    }

    /** A claim that is for one call alone. */
    Passage claimFor(Waiter waiter, boolean mayBarge, long now) {
        Passage passage =
                claim(waiter.mode, waiter.mayWait, mayBarge, waiter.blockAtMost, now, waiter.threadName, waiter);
        waiter.passage = passage;
        return passage;
    }

    Passage claim(
            LockMode mode,
            boolean mayWait,
            boolean mayBarge,
            Duration blockAtMost,
            long now,
            String threadName,
            @Nullable Waiter only) {
        Passage passage = new Passage(turnstile, mode, mayWait, mayBarge, blockAtMost, now, threadName, ++claims, only);
        passages.add(passage);
        return passage;
    }

    void granted(Passage passage, Grant grant, long now) {
        passage.grant = grant;
        passage.transitionTo(State.HELD);
        LossReason told = passage.toldLoss();
        if (told != null) {
            losses.lose(passage, told);
        }
        losses.loseOverruled(passage);
        Waiter only = passage.only;
        if (!passage.isHeld() || losses.loseIfPast(passage, now)) {
            // Too late to be used. Who waits in the queue is claimed for again; a call with its own claim here.
            if (only != null && only.mayWait) {
                Passage again = claimFor(only, false, now);
                mutex.later(() -> courier.submit(again));
            } else if (only != null) {
                finish(only, answers.unavailable(now - passage.sentNanos()));
            }
            return;
        }
        if (only != null) {
            bypassFirst();
        }
        Waiter first = only != null ? only : queue.firstOf(passage.mode);
        if (first != null && (only != null || first != queue.first() || first.thread == Thread.currentThread())) {
            queue.remove(first);
            assign(passage, first, now);
        }
    }

    /** The backend does not know what became of a claim: take it back, and report. */
    void failed(Passage passage, @Nullable Throwable error) {
        if (passage.claim == null) {
            end(passage);
        } else {
            withdraw(passage);
        }
        Object failure = answers.failed(error);
        if (passage.only != null) {
            queue.remove(passage.only);
            finish(passage.only, failure);
            return;
        }
        for (Waiter waiter = queue.firstOf(passage.mode); waiter != null; waiter = queue.firstOf(passage.mode)) {
            queue.remove(waiter);
            finish(waiter, failure);
        }
    }

    void withdraw(Passage passage) {
        passage.transitionTo(State.WITHDRAWING);
        Claim claim = passage.claim;
        if (claim != null) {
            mutex.later(() -> courier.withdraw(passage, claim));
        }
    }

    void end(Passage passage) {
        passage.transitionTo(State.GONE);
        CompletableFuture<Void> gone = passage.gone;
        if (gone != null) {
            mutex.later(() -> gone.complete(null));
        }
        passages.remove(passage);
    }

    /** Removes what ended without the mutex. */
    void purge() {
        Passage next;
        for (Passage passage = passages.first(); passage != null; passage = next) {
            next = passage.next;
            if (passage.state() == State.GONE) {
                passages.remove(passage);
            }
        }
    }

    // ---------------------------------------------------------------- giving back

    /**
     * Whether the clock need not be read for a release: with nobody to hand the grant to it goes to the engine, whose
     * answer tells whether it was ours to the end.
     */
    boolean engineTells(Hold hold) {
        return queue.isEmpty()
                && hold.passage.holds.size() == 1
                && !hold.hasMaxHold()
                && !hold.hasMinHold()
                && options.sticky().isEmpty()
                && !client.events().isHeard();
    }

    /**
     * Ends a hold, and decides what becomes of its grant.
     *
     * @return whether the caller is to release the grant, whose answer is the end of the hold
     */
    boolean release(Hold hold, long now) {
        Passage passage = hold.passage;
        remove(hold);
        hold.beginRelease();
        if (hold.mode == LockMode.EXCLUSIVE && !passage.holds.isEmpty()) {
            passage.shareTokenOf(hold);
            if (!passage.isKeptFrom(LockMode.SHARED, now)) {
                downgrade(passage);
            }
        }
        ending = hold;
        settle(now, null, passage);
        boolean asked = passage.state() == State.RELEASING;
        if (!asked) {
            endReleasedHere(passage, now);
        }
        ending = null;
        return asked;
    }

    /** The grant stays here, so the hold on it that is being released is over. */
    private void endReleasedHere(Passage passage, long now) {
        Hold hold = ending;
        if (hold != null && hold.passage == passage && hold.endRelease(Hold.End.RELEASED)) {
            client.events().released(name, hold.mode, now - hold.sinceNanos);
            notifyListeners();
        }
    }

    void beginRelease(Passage passage, boolean inBackground) {
        passage.transitionTo(State.RELEASING);
        yields |= passage.budgeted || passage.isWanted();
        if (inBackground) {
            mutex.later(() -> courier.release(passage, null, LockBackend.DO_NOT_BLOCK));
        }
    }

    /**
     * Done when the engine knows no more of the claims that are being withdrawn, or after the request timeout. Null if there
     * are none. A hold may come from another grant than the claim that was made for it; who releases it waits for that claim
     * too: until it is gone, another client's call could be refused because of it.
     */
    @Nullable
    CompletableFuture<Void> withdrawn(long now) {
        List<CompletableFuture<Void>> leaving = null; // most releases find none
        for (Passage passage = passages.first(); passage != null; passage = passage.next) {
            if (passage.state() == State.WITHDRAWING
                    && passage.only == null
                    && now - passage.owedSince(now) < client.requestTimeoutNanos()) {
                leaving = leaving == null ? new ArrayList<>(1) : leaving;
                leaving.add(passage.whenGone());
            }
        }
        if (leaving == null) {
            return null;
        }
        CompletableFuture<Void> done = CompletableFuture.allOf(leaving.toArray(CompletableFuture[]::new));
        Scheduler.Timer patience = client.scheduler().schedule(client.requestTimeoutNanos(), () -> done.complete(null));
        done.whenComplete((nothing, error) -> patience.cancel());
        return done;
    }

    /** Gives back what is kept but cannot serve who waits. */
    void releaseUseless(long now) {
        for (Passage passage = passages.first(); passage != null; passage = passage.next) {
            if (passage.state() == State.RETAINED && !serve(passage, now, null)) {
                beginRelease(passage, true);
            }
        }
    }

    void remove(Hold hold) {
        hold.passage.keepFor(hold);
        hold.passage.holds.remove(hold);
        owners.remove(hold);
    }

    /** Lets other clients' readers in beside the readers that use an exclusive grant. */
    void downgrade(Passage passage) {
        if (passage.mode == LockMode.EXCLUSIVE && passage.downgrade == null) {
            CompletableFuture<Boolean> done = new CompletableFuture<>();
            passage.downgrade = done;
            mutex.later(() -> courier.downgrade(passage, done));
        }
    }

    // ---------------------------------------------------------------- ending

    boolean isIdle() {
        purge();
        return passages.isEmpty() && queue.isEmpty() && !owners.hasLost();
    }

    void close(Passage passage) {
        if (passage.inline && passage.endClaiming(State.WITHDRAWING)) {
            return; // its thread will see it
        }
        if (passage.isClaiming() && passage.only != null) {
            withdraw(passage);
            finish(passage.only, answers.closed());
        } else if (passage.isHeld()) {
            for (Hold hold = passage.holds.first(); hold != null; hold = passage.holds.first()) {
                losses.lose(hold, LossReason.CLIENT_CLOSED);
            }
        }
    }
}
