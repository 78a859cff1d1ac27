package dev.lockstep.internal.semaphore;

import dev.lockstep.LossReason;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.Grant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The state of a call and its permits, and its transitions. Each method is one decision; {@link PermitCall} and {@link
 * PermitHold} carry out the result when the monitor is left. Calls no foreign code. Safe for use by many threads.
 */
final class PermitState {
    /*
     * Overview. A call makes one claim, and nobody shares it.
     *
     *   CLAIMING ──▶ HELD ──▶ RELEASING ──▶ GONE
     *      ├──▶ WITHDRAWING ──▶ GONE
     *      └──▶ GONE
     *
     * The end of the hold is known once: when it is lost, or when its release is answered. A grant that comes when the
     * state is not CLAIMING any more raced the withdrawal, and the backend releases it. Fields are guarded by this.
     */
    private enum State {
        CLAIMING,
        HELD,
        RELEASING,
        WITHDRAWING,
        GONE
    }

    /**
     * A claim to be withdrawn.
     *
     * @param claim null if the engine was not asked, since the call to it failed
     * @param submitted whether the call to the backend has returned or failed: one that has not withdraws its claim when it
     *     does
     */
    record Leaving(@Nullable Claim claim, boolean submitted) {}

    private final long maxHoldNanos;
    private State state = State.CLAIMING;
    private @Nullable Claim claim;
    private boolean submitted;
    private @Nullable Grant grant;
    private @Nullable Grant lostGrant;
    private @Nullable LossReason lossReason;
    private long sinceNanos;
    private long leavingSinceNanos;
    private @Nullable PermitEnd end;
    private final List<Consumer<LossReason>> lossActions = new ArrayList<>(1);

    /**
     * Makes the state of a call that begins.
     *
     * @param maxHoldNanos how long the permits may be held
     */
    PermitState(long maxHoldNanos) {
        this.maxHoldNanos = maxHoldNanos;
    }

    // ---------------------------------------------------------------- claiming

    synchronized boolean isClaiming() {
        return state == State.CLAIMING;
    }

    synchronized @Nullable Claim claim() {
        return claim;
    }

    /**
     * The call to the backend has returned.
     *
     * @param made null if it failed
     * @return whether the call was given up meanwhile: the claim must be withdrawn
     */
    synchronized boolean submitted(@Nullable Claim made) {
        claim = made;
        submitted = true;
        return state == State.WITHDRAWING;
    }

    /** The engine granted the permits. False if that comes too late. */
    synchronized boolean granted(Grant given, long now) {
        if (state != State.CLAIMING) {
            return false;
        }
        state = State.HELD;
        grant = given;
        sinceNanos = now;
        return true;
    }

    /** The engine refused. False if that comes too late. */
    synchronized boolean refused() {
        if (state != State.CLAIMING) {
            return false;
        }
        state = State.GONE;
        return true;
    }

    /** Gives the claim up; null if it has its answer, or was given up before. */
    synchronized @Nullable Leaving giveUp(long now) {
        if (state != State.CLAIMING) {
            return null;
        }
        state = State.WITHDRAWING;
        leavingSinceNanos = now;
        return new Leaving(claim, submitted);
    }

    // ---------------------------------------------------------------- holding

    synchronized boolean isHeld() {
        return state == State.HELD;
    }

    synchronized Grant grant() {
        Grant known = grant;
        if (known == null) {
            throw new IllegalStateException("There is no permit in state " + state);
        }
        return known;
    }

    /** When the permits were granted. */
    synchronized long sinceNanos() {
        return sinceNanos;
    }

    /** Until when the permits are good if nothing renews them; empty if they are not held. */
    synchronized OptionalLong heldUntilNanos() {
        return state == State.HELD ? OptionalLong.of(deadlineNanos()) : OptionalLong.empty();
    }

    private long deadlineNanos() {
        long granted = grant().validUntilNanos();
        long longest = sinceNanos + maxHoldNanos;
        return longest - granted < 0 ? longest : granted;
    }

    /** How long the permits are good; zero if they are over. The first look after a pause finds the deadline. */
    synchronized long remainingNanos(long now) {
        return state == State.HELD ? Math.max(deadlineNanos() - now, 0) : 0;
    }

    /** Why the permits are lost if they are past their deadline; empty if they are not. */
    synchronized Optional<LossReason> overdue(long now) {
        if (state != State.HELD || now - deadlineNanos() < 0) {
            return Optional.empty();
        }
        boolean expired = now - grant().validUntilNanos() >= 0;
        return Optional.of(expired ? LossReason.EXPIRED : LossReason.MAX_HOLD_REACHED);
    }

    /** The engine says that a grant is lost, maybe before it says that it is granted. True if it is held. */
    synchronized boolean reportedLost(Grant ended, LossReason reason) {
        lostGrant = ended;
        lossReason = reason;
        return state == State.HELD && grant == ended;
    }

    /** Why the engine said that the grant is lost; empty if it did not. */
    synchronized Optional<LossReason> reportedLoss() {
        return lostGrant == grant ? Optional.ofNullable(lossReason) : Optional.empty();
    }

    /** Ends the hold as lost. The actions to run; null if it is over. */
    synchronized @Nullable List<Consumer<LossReason>> lose(LossReason reason, long now) {
        if (!release(now)) {
            return null;
        }
        return end(PermitEnd.lost(reason));
    }

    /** The hold has its end. The actions to run if it was lost; null if it had an end. */
    synchronized @Nullable List<Consumer<LossReason>> end(PermitEnd how) {
        if (end != null) {
            return null;
        }
        end = how;
        List<Consumer<LossReason>> actions = List.copyOf(lossActions);
        lossActions.clear();
        return actions;
    }

    /** Keeps an action until the hold is lost. The end of the hold if it has one; the action is not kept then. */
    synchronized Optional<PermitEnd> onLost(Consumer<LossReason> action) {
        if (end == null) {
            lossActions.add(action);
        }
        return end();
    }

    /** The end of the hold; empty while it is held, or its release is on its way. */
    synchronized Optional<PermitEnd> end() {
        return Optional.ofNullable(end);
    }

    // ---------------------------------------------------------------- leaving

    /** The permits are about to be released. False if that was done before, or they are lost. */
    synchronized boolean release(long now) {
        if (state != State.HELD) {
            return false;
        }
        state = State.RELEASING;
        leavingSinceNanos = now;
        return true;
    }

    /** The engine knows nothing of the claim any more. */
    synchronized void gone() {
        state = State.GONE;
    }

    /** Whether the engine has not answered a release or withdrawal for some time. */
    synchronized boolean isLeavingFor(long nanos, long now) {
        return (state == State.RELEASING || state == State.WITHDRAWING) && now - leavingSinceNanos >= nanos;
    }
}
