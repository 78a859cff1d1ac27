package dev.lockstep.internal.turnstile;

import dev.lockstep.LockLostException;
import dev.lockstep.LockMode;
import dev.lockstep.LockOptions;
import dev.lockstep.LossReason;
import dev.lockstep.internal.concurrent.Handles;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One owner's hold of a lock: a thread's with all its re-entries, or an asynchronous handle's. It is held, and has one
 * end: it is released, lost, or its release is not confirmed.
 *
 * <p>The counts belong to the owner: a thread's hold is counted by that thread alone, without a lock. Other threads may
 * change only the end of the hold, a volatile: a loss and the beginning of a release are written under the turnstile's mutex,
 * and the end of the release is one compare-and-set.
 */
public final class Hold extends Chain.Link<Hold> implements Entry {
    /** How a hold ends. */
    sealed interface End {}

    /** The end of a hold whose owner releases it. */
    enum Release implements End {
        /** The engine is being asked. It stays so if the answer is yes and nobody listens. */
        RELEASING,
        RELEASED,
        /** The engine has not answered in time. */
        UNCONFIRMED
    }

    /** The end of a hold that was lost. */
    private record Lost(LossReason reason) implements End {}

    /** Is notified of how a hold ended. Called without the mutex, and possibly more than once. */
    @FunctionalInterface
    public interface Observer {
        void holdEnded(Hold hold);
    }

    private static final VarHandle END = Handles.of(MethodHandles.lookup(), Hold.class, "end", End.class);

    public final Turnstile turnstile;
    final Passage passage;
    public final LockMode mode;

    /** The thread that owns it; null if a handle does. */
    public final @Nullable Thread owner;

    /** When it began: for a thread that waited for nobody, when it called. */
    public final long sinceNanos;

    /** When its maximum time ends; a re-entry may bring that forward. Written under the mutex. */
    private volatile long maxHoldEndNanos;

    private volatile boolean hasMaxHold;

    /** Until when the lock stays held though the hold has ended; meaningless without a minimum time. Written under the mutex. */
    private volatile long minHoldEndNanos;

    private volatile boolean hasMinHold;

    /** Holds by {@code lock()}. */
    private int locks;

    /** Open lease handles. */
    private int leases;

    /** Where it was acquired; only kept by a client that looks for leaks. */
    private volatile @Nullable Throwable place;

    /** Notices that the lease of an asynchronous call has become unreachable; reachable as long as the hold is. */
    @SuppressWarnings("unused") // kept, not read
    private @Nullable Reference<?> lease;

    /** The reports of the hold watch about it; only used there. */
    private boolean reportedAbandoned;

    private boolean reportedLong;

    /** Its observer; null if there is none, or its call has not returned yet. */
    private volatile @Nullable Observer observer;

    /** Null while held. */
    private volatile @Nullable End end;

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

    public int count() {
        return locks + leases;
    }

    /** How many of its counts are of {@code lock()}. */
    public int locks() {
        return locks;
    }

    /** Counts a {@code lock()}. By its owner. */
    public void countLock() {
        locks++;
    }

    /** Counts a lease handle. By its owner. */
    public void countLease() {
        leases++;
    }

    /** Takes back a count of {@code lock()}; returns how many counts are left. By its owner. */
    int uncountLock() {
        locks--;
        return count();
    }

    /** Takes back a count of a lease handle; returns how many counts are left. By its owner. */
    int uncountLease() {
        leases--;
        return count();
    }

    public boolean isOpen() {
        return end == null;
    }

    boolean isReleased() {
        return end instanceof Release;
    }

    public boolean isUnconfirmed() {
        return end == Release.UNCONFIRMED;
    }

    /** The reason of the loss; null unless lost. */
    @Nullable
    public LossReason loss() {
        return end instanceof Lost lost ? lost.reason : null;
    }

    public LockLostException lostException() {
        LossReason known = loss();
        LossReason reason = known == null ? LossReason.EXPIRED : known;
        boolean byEngine = reason != LossReason.MAX_HOLD_REACHED && reason != LossReason.CLIENT_CLOSED;
        String address =
                byEngine && !passage.isForeign() ? turnstile.client().backend().address() : "";
        return new LockLostException(turnstile.name(), reason, address);
    }

    /** Whether another engine than the client's own gave it. */
    public boolean isForeign() {
        return passage.isForeign();
    }

    /** Something that the engine adds to its grant. */
    public <T> Optional<T> unwrap(Class<T> type) {
        return passage.heldGrant().unwrap(type);
    }

    /** Identifies its grant. */
    public String claimId() {
        return passage.claimId();
    }

    /** How often its grant was handed off. */
    public int handOffs() {
        return passage.handOffCount();
    }

    /** Until when it is good if nothing renews it. */
    public long deadlineNanos() {
        long granted = passage.heldGrant().validUntilNanos();
        return hasMaxHold && maxHoldEndNanos - granted < 0 ? maxHoldEndNanos : granted;
    }

    /** Whether it is good now. The first look after a pause finds the deadline before anything else does. */
    public boolean isValid(long now) {
        if (end != null) {
            return false;
        }
        if (now - deadlineNanos() < 0) {
            return true;
        }
        turnstile.checkDeadlines(now);
        return false;
    }

    /** Where it was acquired; null unless its client looks for leaks. */
    public @Nullable Throwable place() {
        return place;
    }

    public void acquiredAt(Throwable where) {
        place = where;
    }

    /** Keeps what notices that nobody can reach its lease any more. */
    public void noticedBy(Reference<?> notice) {
        lease = notice;
    }

    /** Returns true on the first call only. Called only by the hold watch. */
    public boolean reportAbandoned() {
        boolean news = !reportedAbandoned;
        reportedAbandoned = true;
        return news;
    }

    /** Returns true on the first call only. Called only by the hold watch. */
    public boolean reportLong() {
        boolean news = !reportedLong;
        reportedLong = true;
        return news;
    }

    /** From now on its end is observed. By its owner. */
    public void observe(Observer by) {
        observer = by;
    }

    /** Lets observers know of its end, which it has. Not under the mutex; may be called more than once. */
    void reportEnd() {
        Observer known = observer;
        if (known != null) {
            known.holdEnded(this);
        }
    }

    /** It is not held any more; how it ends is not known yet. Under the mutex. */
    void beginRelease() {
        END.setRelease(this, Release.RELEASING); // the mutex publishes it
    }

    /** Ends what {@link #beginRelease()} began. False if it has an end. */
    boolean endRelease(Release how) {
        return END.compareAndSet(this, Release.RELEASING, how);
    }

    /** Ends what {@link #beginRelease()} began: it had been lost. False if it has an end. */
    boolean endRelease(LossReason reason) {
        return END.compareAndSet(this, Release.RELEASING, new Lost(reason));
    }

    /** Ends it as lost. Under the mutex; the actions returned are to be run outside it. */
    List<Consumer<LossReason>> lose(LossReason reason) {
        end = new Lost(reason);
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

    public long drawnToken() {
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
