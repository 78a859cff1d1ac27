package dev.lockstep.internal;

import dev.lockstep.HolderInfo;
import dev.lockstep.LockMode;
import dev.lockstep.LockOptions;
import dev.lockstep.LossReason;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.Grant;
import dev.lockstep.spi.GrantListener;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One claim's way through the engine: claiming, held, given back. A turnstile has few of them at a time, and most of the
 * time one or none. Everything but the final fields is guarded by the turnstile's mutex.
 */
final class Passage extends Chain.Link<Passage> implements ClaimRequest, GrantListener {
    /** Where a passage stands. What may follow what is said here and nowhere else. */
    enum State {
        /** The claim is at the engine, or on its way there. */
        CLAIMING,
        /** The grant is ours: used by holds, or offered to the next of them. */
        HELD,
        /** The grant is ours and nobody uses it: kept for the next local call. */
        RETAINED,
        /** The grant is being given back; new claims wait behind it. */
        RELEASING,
        /** The claim is being given up; new claims wait behind it. */
        WITHDRAWING,
        /** The engine knows it no more, or ended it. */
        GONE;

        private int successors;

        static {
            CLAIMING.leadsTo(HELD, WITHDRAWING, GONE);
            HELD.leadsTo(RETAINED, RELEASING, GONE);
            RETAINED.leadsTo(HELD, RELEASING, GONE);
            RELEASING.leadsTo(GONE);
            WITHDRAWING.leadsTo(GONE);
        }

        private void leadsTo(State... next) {
            for (State state : next) {
                successors |= 1 << state.ordinal();
            }
        }

        boolean mayBecome(State next) {
            return (successors & 1 << next.ordinal()) != 0;
        }
    }

    private static final VarHandle STATE = Handles.of(MethodHandles.lookup(), Passage.class, "state", State.class);

    /** The index of a token has 10 bits; index 0 is never drawn, so that {@code LockInfo} can show it. */
    static final int TOKEN_SHIFT = 10;

    private static final int MAX_INDEX = (1 << TOKEN_SHIFT) - 1;

    private final Turnstile turnstile;
    private final LockMode claimedMode;
    private final boolean mayWait;
    private final boolean mayBarge;
    private final Duration blockAtMost;
    private final long sentNanos;
    private final String threadName;
    private final long number;

    /** The only call that this claim is for; null if it is for whoever stands first in the local queue. */
    @Nullable
    Waiter only;

    /** The thread that claims is inside the call to the backend, and will take the grant itself if it comes at once. */
    boolean inline;

    /** The mode of the grant: a downgrade changes it. */
    LockMode mode;

    /** Changed under the mutex, but for the steps of the fast way: see {@link Turnstile}. */
    private volatile State state = State.CLAIMING;

    /** Known once {@code submit} has returned. A withdrawal that comes before waits for it. */
    @Nullable
    Claim claim;

    /** Completes when the engine no longer knows this passage; null if nobody waits for that. */
    @Nullable
    CompletableFuture<Void> gone;

    /** Known from {@link State#HELD} on. */
    @Nullable
    Grant grant;

    /** Who holds it now. */
    final Chain<Hold> holds = new Chain<>();

    /** Whether the engine owes the answer to its release or withdrawal, and since when. */
    boolean owed;

    long owedSinceNanos;

    /** A downgrade on its way; the release waits for it. */
    @Nullable
    CompletableFuture<Boolean> downgrade;

    /** Whether a hold has begun on it before. */
    boolean used;

    /** Hand-offs since the budget began to count. */
    int handOffs;

    /** When the budget began to count; meaningless while {@link #budgeted} is false. */
    long budgetNanos;

    boolean budgeted;

    private volatile @Nullable ToldLoss toldLoss;

    private @Nullable HolderInfo holder; // guarded by this

    /** Since when nobody uses it; only in {@link State#RETAINED}. */
    long idleSinceNanos;

    /** Whether a timer will look at the idle time. */
    boolean idleTimer;

    /** A hold on it ended before its minimum time: until then, nobody gets the lock whom that hold would exclude. */
    private boolean kept;

    private long keptUntilNanos;
    private boolean keptExclusive;

    /** Whether a timer will look at that. */
    boolean keptTimer;

    /** The last index drawn. */
    private int drawn;

    /** The index that the readers of the present cohort share; 0 if none was drawn. */
    private int cohortIndex;

    Passage(
            Turnstile turnstile,
            LockMode mode,
            boolean mayWait,
            boolean mayBarge,
            Duration blockAtMost,
            long sentNanos,
            String threadName,
            long number,
            @Nullable Waiter only) {
        this.turnstile = turnstile;
        this.claimedMode = mode;
        this.mode = mode;
        this.mayWait = mayWait;
        this.mayBarge = mayBarge;
        this.blockAtMost = blockAtMost;
        this.sentNanos = sentNanos;
        this.threadName = threadName;
        this.number = number;
        this.only = only;
    }

    State state() {
        return state;
    }

    /** Goes on to the next state. Under the mutex, which publishes it. */
    void transitionTo(State next) {
        State current = state;
        if (!current.mayBecome(next)) {
            throw new IllegalStateException("Lock '" + turnstile.name() + "': " + current + " cannot become " + next);
        }
        STATE.setRelease(this, next);
    }

    /** Leaves {@link State#CLAIMING} without the mutex, or against somebody who does. False if it was left already. */
    boolean endClaiming(State next) {
        return STATE.compareAndSet(this, State.CLAIMING, next);
    }

    /** The engine has confirmed the release: said without the mutex, for the next who comes to see. */
    void markGone() {
        state = State.GONE;
    }

    /** Whether the engine has it as exclusive: not while a downgrade is on its way. */
    boolean isSurelyExclusive() {
        return mode == LockMode.EXCLUSIVE && (downgrade == null || downgrade.isDone());
    }

    boolean isHeld() {
        State current = state;
        return current == State.HELD || current == State.RETAINED;
    }

    boolean isClaiming() {
        return state == State.CLAIMING;
    }

    /** Whether this claim stands in the engine's queue for the turnstile as a whole. */
    boolean waitsForQueue() {
        State current = state;
        return only == null && (current == State.CLAIMING || current == State.WITHDRAWING);
    }

    /** Whether it is of no use here any more, but the engine may still know it. */
    boolean isLeaving() {
        State current = state;
        return current == State.RELEASING || current == State.WITHDRAWING;
    }

    /** Whether a claim for the queue has to wait until it has left. */
    boolean isInTheWay() {
        State current = state;
        return current == State.RELEASING || only == null && current == State.WITHDRAWING;
    }

    /** Completes, without the mutex held, when the engine no longer knows this passage. */
    CompletableFuture<Void> whenGone() {
        CompletableFuture<Void> known = gone;
        if (known == null) {
            known = new CompletableFuture<>();
            gone = known;
        }
        return known;
    }

    /** Since when the engine owes the word that it has left; {@code now} while it is just being asked. */
    long owedSince(long now) {
        return owed ? owedSinceNanos : now;
    }

    Grant heldGrant() {
        Grant known = grant;
        if (known == null) {
            throw new IllegalStateException("Lock '" + turnstile.name() + "' has no grant in state " + state);
        }
        return known;
    }

    boolean isWanted() {
        return heldGrant().isWanted();
    }

    boolean isFallback() {
        return heldGrant() instanceof FallbackGrant routed && routed.isFallback();
    }

    boolean hasTokensLeft() {
        return drawn < MAX_INDEX;
    }

    /** The exclusive hold, if there is one: it began when there was no other, so it is the first. */
    @Nullable
    Hold writer() {
        Hold first = holds.first();
        return first != null && first.mode == LockMode.EXCLUSIVE ? first : null;
    }

    void add(Hold hold) {
        if (hold.mode == LockMode.EXCLUSIVE) {
            cohortIndex = 0;
        }
        holds.add(hold);
        used = true;
    }

    /** A hold on it has ended. If it was before its minimum time, the lock stays held. */
    void keepFor(Hold ended) {
        if (ended.hasMinHold()) {
            long end = ended.minHoldEndNanos();
            keptUntilNanos = kept && keptUntilNanos - end > 0 ? keptUntilNanos : end;
            keptExclusive |= ended.mode == LockMode.EXCLUSIVE;
            kept = true;
        }
    }

    /** Whether a hold on it had a minimum time. */
    boolean isToBeKept() {
        return kept;
    }

    /** For how long it stays held though nobody uses it; not positive if it does not. */
    long keptNanos(long now) {
        return kept ? keptUntilNanos - now : 0;
    }

    /** Whether a hold that has ended still excludes a mode. */
    boolean isKeptFrom(LockMode mode, long now) {
        return (keptExclusive || mode == LockMode.EXCLUSIVE) && keptNanos(now) > 0;
    }

    /** The earliest deadline of the grant and of the maximum times of its holds, or {@code latest} if none is before it. */
    long earliestDeadline(long latest) {
        long until = heldGrant().validUntilNanos();
        long earliest = until - latest < 0 ? until : latest;
        for (Hold hold = holds.first(); hold != null; hold = hold.next) {
            until = hold.deadlineNanos();
            earliest = until - earliest < 0 ? until : earliest;
        }
        return earliest;
    }

    /** Draws the token of a hold: each exclusive hold its own, readers that hold together one. */
    long drawToken(Hold hold) {
        int index;
        Hold writer = writer();
        long first = Math.multiplyExact(heldGrant().token(), 1L << TOKEN_SHIFT); // throws where there is none
        if (hold.mode == LockMode.EXCLUSIVE) {
            index = ++drawn;
        } else if (writer != null) {
            // The writer reads under its own lock: one token for both, so that storage refuses neither.
            long token = writer.drawnToken();
            return token != 0 ? token : writer.draw();
        } else {
            if (cohortIndex == 0) {
                cohortIndex = ++drawn;
            }
            index = cohortIndex;
        }
        return first + index;
    }

    /** The writer that these readers may outlive hands its token on to them. */
    void shareTokenOf(Hold writer) {
        long token = writer.drawnToken();
        cohortIndex = token == 0 ? 0 : (int) (token & MAX_INDEX);
    }

    @Override
    public void lost(Grant ended, LossReason reason) {
        toldLoss = new ToldLoss(ended, reason);
        turnstile.lost(this, ended, reason);
    }

    @Override
    public void wanted(Grant blocking) {
        turnstile.wanted(this);
    }

    /** What the engine told of the loss of this passage's grant; null if it told nothing. */
    @Nullable
    LossReason toldLoss() {
        ToldLoss told = toldLoss;
        return told != null && told.grant == grant ? told.reason : null;
    }

    private record ToldLoss(Grant grant, LossReason reason) {}

    @Override
    public String name() {
        return turnstile.name();
    }

    @Override
    public LockMode mode() {
        return claimedMode;
    }

    /** What all users of the name agree on now. */
    LockOptions options() {
        return turnstile.options();
    }

    @Override
    public boolean mayWait() {
        return mayWait;
    }

    @Override
    public boolean mayBarge() {
        return mayBarge;
    }

    @Override
    public Duration blockAtMost() {
        return blockAtMost;
    }

    @Override
    public String claimId() {
        return turnstile.claimId(number);
    }

    /** Made when it is first asked for, and then the same for all who ask: engines that keep none ask at every look. */
    @Override
    public synchronized HolderInfo holder() {
        HolderInfo known = holder;
        if (known == null) {
            known = turnstile.holderInfo(threadName, sentNanos);
            holder = known;
        }
        return known;
    }

    @Override
    public GrantListener listener() {
        return this;
    }

    @Override
    public long sentNanos() {
        return sentNanos;
    }
}
