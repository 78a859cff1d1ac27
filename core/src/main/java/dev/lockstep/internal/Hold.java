package dev.lockstep.internal;

import dev.lockstep.LockLostException;
import dev.lockstep.LockMode;
import dev.lockstep.LockOptions;
import dev.lockstep.LossReason;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One owner's hold of a lock: a thread's with all its re-entries, or an asynchronous handle's. It is held, and has one
 * end: it is released, lost, or its release is not confirmed.
 *
 * <p>The counts belong to the owner: a thread's hold is counted by that thread alone, without a lock. What others may
 * change, the end of the hold, is a volatile that is written under the turnstile's mutex.
 */
final class Hold extends Chain.Link<Hold> {
    /** How a hold ends whose owner releases it. A loss is a {@link LossReason} instead. */
    enum End {
        /** The engine is being asked. It stays so if the answer is yes and nobody listens. */
        RELEASING,
        RELEASED,
        /** The engine has not answered in time. */
        UNCONFIRMED
    }

    private static final VarHandle END = Handles.of(MethodHandles.lookup(), Hold.class, "end", Object.class);

    final Turnstile turnstile;
    final Passage passage;
    final LockMode mode;

    /** The thread that owns it; null if a handle does. */
    final @Nullable Thread owner;

    /** When it began: for a thread that waited for nobody, when it called. */
    final long sinceNanos;

    /** When its maximum time ends; a re-entry may bring that forward. Written under the mutex. */
    private volatile long maxHoldEndNanos;

    private volatile boolean hasMaxHold;

    /** Until when the lock stays held though the hold has ended; meaningless without a minimum time. Written under the mutex. */
    private volatile long minHoldEndNanos;

    private volatile boolean hasMinHold;

    /** Holds by {@code lock()}. */
    int locks;

    /** Open lease handles. */
    int leases;

    /** Where it was acquired; only kept by a client that looks for leaks. */
    volatile @Nullable Throwable place;

    /** Notices that nobody can reach the lease of an asynchronous call any more; reachable as long as the hold is. */
    HoldWatch.@Nullable LeaseReference lease;

    /** What {@link HoldWatch} has reported of it; only used there. */
    boolean reportedAbandoned;

    boolean reportedLong;

    /** Null while held; then an {@link End} or a {@link LossReason}. */
    private volatile @Nullable Object end;

    /** The token, 0 until it is drawn; written under the mutex. */
    private volatile long token;

    private @Nullable List<Consumer<LossReason>> lossActions;

    Hold(
            Turnstile turnstile,
            Passage passage,
            LockMode mode,
            LockOptions options,
            @Nullable Thread owner,
            long sinceNanos) {
        this.turnstile = turnstile;
        this.passage = passage;
        this.mode = mode;
        this.owner = owner;
        this.sinceNanos = sinceNanos;
        endBy(options, sinceNanos);
    }

    /**
     * Ends it no later than the maximum time, and no earlier than the minimum time, of a use that begins now. Under the mutex,
     * once others know the hold.
     */
    void endBy(LockOptions use, long now) {
        Duration minHold = use.minHold().orElse(null);
        if (minHold != null) {
            long end = now + minHold.toNanos();
            if (!hasMinHold || end - minHoldEndNanos > 0) {
                minHoldEndNanos = end;
                hasMinHold = true;
            }
        }
        Duration maxHold = use.maxHold().orElse(null);
        if (maxHold == null) {
            return; // the usual case: no volatile is written
        }
        long end = now + maxHold.toNanos();
        if (!hasMaxHold || end - maxHoldEndNanos < 0) {
            maxHoldEndNanos = end;
            hasMaxHold = true;
        }
    }

    boolean hasMaxHold() {
        return hasMaxHold;
    }

    boolean hasMinHold() {
        return hasMinHold;
    }

    long minHoldEndNanos() {
        return minHoldEndNanos;
    }

    int count() {
        return locks + leases;
    }

    /** Gives up one of the owner's counts: of {@code lock()}, or of a lease handle. */
    int countDown(boolean ofLease) {
        return ofLease ? --leases + locks : --locks + leases;
    }

    boolean isOpen() {
        return end == null;
    }

    boolean isReleased() {
        return end instanceof End;
    }

    boolean isUnconfirmed() {
        return end == End.UNCONFIRMED;
    }

    /** The reason of the loss; null unless lost. */
    @Nullable
    LossReason loss() {
        return end instanceof LossReason reason ? reason : null;
    }

    LockLostException lostException() {
        LossReason known = loss();
        LossReason reason = known == null ? LossReason.EXPIRED : known;
        boolean byEngine = reason != LossReason.MAX_HOLD_REACHED && reason != LossReason.CLIENT_CLOSED;
        String address =
                byEngine && !passage.isFallback() ? turnstile.client().backend().address() : "";
        return new LockLostException(turnstile.name(), reason, address);
    }

    /** Until when it is good if nothing renews it. */
    long deadlineNanos() {
        long granted = passage.heldGrant().validUntilNanos();
        return hasMaxHold && maxHoldEndNanos - granted < 0 ? maxHoldEndNanos : granted;
    }

    /** Whether it is good now. The first look after a pause finds the deadline before anything else does. */
    boolean isValid(long now) {
        if (end != null) {
            return false;
        }
        if (now - deadlineNanos() < 0) {
            return true;
        }
        turnstile.checkDeadlines(now);
        return false;
    }

    /** It is not held any more; how it ends is not known yet. Under the mutex. */
    void beginRelease() {
        END.setRelease(this, End.RELEASING); // the mutex publishes it
    }

    /** Ends what {@link #beginRelease()} began: as an {@link End} or a {@link LossReason}. False if it has an end. */
    boolean endRelease(Object how) {
        return END.compareAndSet(this, End.RELEASING, how);
    }

    /** Ends it as lost. Under the mutex; the actions returned are to be run outside it. */
    List<Consumer<LossReason>> lose(LossReason reason) {
        end = reason;
        return takeLossActions();
    }

    /** The actions for its loss, once. Under the mutex; they are to be run outside it. */
    List<Consumer<LossReason>> takeLossActions() {
        List<Consumer<LossReason>> actions = lossActions;
        lossActions = null;
        return actions == null ? List.of() : actions;
    }

    /** Adds an action for its loss. Under the mutex, while open. */
    void addLossAction(Consumer<LossReason> action) {
        if (lossActions == null) {
            lossActions = new ArrayList<>(2);
        }
        lossActions.add(action);
    }

    long drawnToken() {
        return token;
    }

    /** Draws the token. Under the mutex, while open. */
    long draw() {
        long drawn = token;
        if (drawn == 0) {
            drawn = passage.drawToken(this);
            token = drawn;
        }
        return drawn;
    }
}
