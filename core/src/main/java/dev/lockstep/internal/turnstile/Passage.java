package dev.lockstep.internal.turnstile;

import dev.lockstep.LockMode;
import dev.lockstep.internal.concurrent.Handles;
import dev.lockstep.internal.engine.ForeignGrant;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.Grant;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One claim's way through the engine: claiming, held, released. A turnstile has few of them at a time, and most of the
 * time one or none. Everything but the final fields is guarded by the turnstile's mutex.
 */
public final class Passage extends PassageRequest implements Entry {
    private static final VarHandle STATE =
            Handles.of(MethodHandles.lookup(), Passage.class, "state", PassageState.class);

    /** Changed under the mutex, except for the steps of an inline claim: see {@link InlineClaim}. */
    private volatile PassageState state = PassageState.CLAIMING;

    /** The only call that this claim is for; null if it is for the first waiter in the local queue. */
    private @Nullable Waiter only;

    /** The thread that claims is inside the call to the backend, and will take the grant itself if it comes at once. */
    private boolean inline;

    /** The mode of the grant: a downgrade changes it. */
    private LockMode heldMode;

    /** Known once {@code submit} has returned. A withdrawal that comes before waits for it. */
    private @Nullable Claim claim;

    /** Completes when the engine no longer knows this passage; null if nobody waits for that. */
    private @Nullable CompletableFuture<Void> gone;

    /** Known from {@link PassageState#HELD} on. */
    private @Nullable Grant grant;

    /** Its current holders. */
    final Chain<Hold> holds = new Chain<>();

    /** Whether the engine owes the answer to its release or withdrawal, and since when. */
    private boolean owed;

    private long owedSinceNanos;

    /** A downgrade on its way; the release waits for it. */
    private @Nullable CompletableFuture<Boolean> downgrade;

    /** Whether a hold has begun on it before. */
    private boolean used;

    /** Null until it has been used and another local call wants it. */
    private @Nullable HandOffs handOffs;

    /** Null until a token is drawn. */
    private @Nullable Tokens tokens;

    /** Since when nobody uses it; only in {@link PassageState#RETAINED}. */
    private long idleSinceNanos;

    /** Whether a timer will look at the idle time. */
    private boolean idleTimer;

    /** Null unless a hold on it had a minimum time. */
    private @Nullable KeptTime kept;

    /** Begins a claim for the first waiter in the local queue. */
    Passage(Turnstile turnstile, Terms terms, long number) {
        super(turnstile, terms, number);
        this.heldMode = terms.mode();
    }

    /** Begins a claim for one call alone. */
    Passage(Turnstile turnstile, Terms terms, long number, Waiter only) {
        this(turnstile, terms, number);
        this.only = only;
    }

    // ---------------------------------------------------------------- where it stands

    PassageState state() {
        return state;
    }

    /** Moves to the next state. Under the mutex, which publishes it. */
    void transitionTo(PassageState next) {
        PassageState current = state;
        if (!current.mayBecome(next)) {
            throw new IllegalStateException("Lock '" + name() + "': " + current + " cannot become " + next);
        }
        STATE.setRelease(this, next);
    }

    /**
     * Leaves {@link PassageState#CLAIMING} without the mutex, or in a race with a thread that does. False if it was
     * left already.
     */
    boolean endClaiming(PassageState next) {
        return STATE.compareAndSet(this, PassageState.CLAIMING, next);
    }

    /** The engine has confirmed the release: marked without the mutex, for the next caller to see. */
    void markGone() {
        state = PassageState.GONE;
    }

    boolean isHeld() {
        PassageState current = state;
        return current == PassageState.HELD || current == PassageState.RETAINED;
    }

    boolean isClaiming() {
        return state == PassageState.CLAIMING;
    }

    /** Whether this claim is in the engine's queue for the turnstile as a whole. */
    boolean waitsForQueue() {
        PassageState current = state;
        return only == null && (current == PassageState.CLAIMING || current == PassageState.WITHDRAWING);
    }

    /** Whether it is no longer used here, but the engine may still know it. */
    boolean isLeaving() {
        PassageState current = state;
        return current == PassageState.RELEASING || current == PassageState.WITHDRAWING;
    }

    /** Whether a claim for the queue has to wait until it has left. */
    boolean isInTheWay() {
        PassageState current = state;
        return current == PassageState.RELEASING || only == null && current == PassageState.WITHDRAWING;
    }

    /** The call that this claim is for; null if it is for the first waiter in the local queue. */
    @Nullable
    Waiter only() {
        return only;
    }

    void beginInline() {
        inline = true;
    }

    boolean isInline() {
        return inline;
    }

    /** The call of an inline claim continues as a waiter: in the queue, or with this claim as its own. */
    void endInline() {
        inline = false;
    }

    void endInline(Waiter own) {
        inline = false;
        only = own;
    }

    /** The claim at the engine; null until it is submitted. */
    @Nullable
    Claim claim() {
        return claim;
    }

    void submitted(Claim known) {
        claim = known;
    }

    // ---------------------------------------------------------------- on its way out

    /** The engine did not confirm at once that it has left. */
    void owe(long now) {
        owed = true;
        owedSinceNanos = now;
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

    /** Since when the engine has not confirmed that it has left; {@code now} while it is just being asked. */
    long owedSince(long now) {
        return owed ? owedSinceNanos : now;
    }

    /** The future that completes when it is gone; null if no call waits for that. */
    @Nullable
    CompletableFuture<Void> gone() {
        return gone;
    }

    // ---------------------------------------------------------------- the grant

    /** The engine has granted it. The state decides what is done with it then. */
    void granted(Grant given) {
        grant = given;
    }

    @Override
    boolean isOf(Grant other) {
        return grant == other;
    }

    Grant heldGrant() {
        Grant known = grant;
        if (known == null) {
            throw new IllegalStateException("Lock '" + name() + "' has no grant in state " + state);
        }
        return known;
    }

    boolean isWanted() {
        return heldGrant().isWanted();
    }

    /** Whether another engine than the client's own gave the grant. */
    boolean isForeign() {
        return ForeignGrant.isForeign(heldGrant());
    }

    LockMode heldMode() {
        return heldMode;
    }

    /** Whether the engine has it as exclusive: not while a downgrade is on its way. */
    boolean isSurelyExclusive() {
        return heldMode == LockMode.EXCLUSIVE && (downgrade == null || downgrade.isDone());
    }

    /** Begins to let other clients' readers in. Null if that is not possible, or under way. */
    @Nullable
    CompletableFuture<Boolean> beginDowngrade() {
        if (heldMode != LockMode.EXCLUSIVE || downgrade != null) {
            return null;
        }
        CompletableFuture<Boolean> done = new CompletableFuture<>();
        downgrade = done;
        return done;
    }

    /** A downgrade that has begun; null if there is none. */
    @Nullable
    CompletableFuture<Boolean> downgrade() {
        return downgrade;
    }

    /** The engine refused the last one; now a writer holds it, and there may be another. */
    void forgetDowngrade() {
        downgrade = null;
    }

    void becomeShared() {
        heldMode = LockMode.SHARED;
    }

    boolean isPast(long now) {
        return now - heldGrant().validUntilNanos() >= 0;
    }

    // ---------------------------------------------------------------- its holds

    boolean isUsed() {
        return used;
    }

    /**
     * Whether it may go to one more local hold without asking the engine.
     *
     * @param reportsWanted whether the engine reports that another client wants it
     */
    boolean mayServe(Call call, boolean reportsWanted, long now) {
        if (!used) {
            return true;
        }
        if (isKeptFrom(call.mode(), now) || !hasTokensLeft()) {
            return false;
        }
        if (handOffs == null) {
            handOffs = new HandOffs();
        }
        return handOffs.allowOneMore(call.options(), !reportsWanted || isWanted(), now);
    }

    void handedOff() {
        if (handOffs == null) {
            handOffs = new HandOffs();
        }
        handOffs.handedOff();
    }

    /** Whether its hand-offs are counted because another client wants it. */
    boolean isBudgeted() {
        return handOffs != null && handOffs.isBudgeted();
    }

    int handOffCount() {
        return handOffs == null ? 0 : handOffs.all();
    }

    boolean hasTokensLeft() {
        return tokens == null || tokens.isAnyLeft();
    }

    /** The exclusive hold, if there is one: it began when there was no other, so it is the first. */
    @Nullable
    Hold writer() {
        Hold first = holds.first();
        return first != null && first.mode == LockMode.EXCLUSIVE ? first : null;
    }

    void add(Hold hold) {
        if (hold.mode == LockMode.EXCLUSIVE && tokens != null) {
            tokens.endCohort();
        }
        holds.add(hold);
        used = true;
    }

    /** A hold on it has ended. If it was before its minimum time, the lock stays held. */
    void keepFor(Hold ended) {
        if (ended.hasMinHold()) {
            kept = KeptTime.longer(kept, ended);
        }
    }

    /** How long it stays held though nobody uses it; null if no hold on it had a minimum time. */
    @Nullable
    KeptTime kept() {
        return kept;
    }

    void endKeptTimer() {
        if (kept != null) {
            kept.endTimer();
        }
    }

    boolean isKeptFrom(LockMode mode, long now) {
        return kept != null && kept.excludes(mode, now);
    }

    /** Draws the token of a hold: each exclusive hold its own, readers that hold together one. */
    long drawToken(Hold hold) {
        long first = Math.multiplyExact(heldGrant().token(), 1L << Tokens.SHIFT); // throws where there is none
        Hold writer = writer();
        if (hold.mode == LockMode.SHARED && writer != null) {
            // The writer reads under its own lock: one token for both, so that storage refuses neither.
            long token = writer.drawnToken();
            return token != 0 ? token : writer.draw();
        }
        Tokens known = tokens();
        return first + (hold.mode == LockMode.EXCLUSIVE ? known.drawExclusive() : known.drawShared());
    }

    /** The writer passes its token to these readers, which may outlive it. */
    void shareTokenOf(Hold writer) {
        tokens().continueWith(writer.drawnToken());
    }

    private Tokens tokens() {
        Tokens known = tokens;
        if (known == null) {
            known = new Tokens();
            tokens = known;
        }
        return known;
    }

    /** It is not used from now on. */
    void retain(long now) {
        transitionTo(PassageState.RETAINED);
        idleSinceNanos = now;
    }

    /** For how long nobody has used it. */
    long idleNanos(long now) {
        return state == PassageState.RETAINED ? now - idleSinceNanos : 0;
    }

    /** True if no timer looks at its idle time yet; the caller sets one. */
    boolean beginIdleTimer() {
        boolean news = !idleTimer;
        idleTimer = true;
        return news;
    }

    void endIdleTimer() {
        idleTimer = false;
    }
}
