package dev.lockstep.internal.turnstile;

import dev.lockstep.HolderInfo;
import dev.lockstep.LockMode;
import dev.lockstep.LockOptions;
import dev.lockstep.LossReason;
import dev.lockstep.internal.concurrent.ThreadName;
import dev.lockstep.internal.engine.LockRequest;
import dev.lockstep.spi.Grant;
import dev.lockstep.spi.GrantListener;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A passage as backends see it: its request, which does not change, and the listener for events of its grant.
 */
abstract sealed class PassageRequest extends Chain.Link<Passage> implements LockRequest, GrantListener permits Passage {
    final Turnstile turnstile;
    private final LockMode mode;
    private final boolean mayWait;
    private final boolean mayBarge;
    private final Duration blockAtMost;
    private final long sentNanos;
    private final ThreadName threadName;
    private final long number;
    private @Nullable HolderInfo holder; // guarded by this
    private volatile @Nullable ReportedLoss reportedLoss;

    /**
     * How the engine is asked.
     *
     * @param blockAtMost how long the request may block for its one round trip
     * @param sentNanos when it is made: validity counts from it
     */
    record Terms(
            LockMode mode,
            boolean mayWait,
            boolean mayBarge,
            Duration blockAtMost,
            long sentNanos,
            ThreadName threadName) {}

    PassageRequest(Turnstile turnstile, Terms terms, long number) {
        this.turnstile = turnstile;
        this.mode = terms.mode;
        this.mayWait = terms.mayWait;
        this.mayBarge = terms.mayBarge;
        this.blockAtMost = terms.blockAtMost;
        this.sentNanos = terms.sentNanos;
        this.threadName = terms.threadName;
        this.number = number;
    }

    @Override
    public String name() {
        return turnstile.name();
    }

    @Override
    public LockMode mode() {
        return mode;
    }

    @Override
    public LockOptions options() {
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

    /**
     * Made when it is first asked for, and then the same at each call: engines that do not store it ask each time they
     * are inspected.
     */
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

    // ---------------------------------------------------------------- what the backend says

    /** Whether its grant is the one that is meant. Under the mutex. */
    abstract boolean isOf(Grant other);

    @Override
    public void lost(Grant ended, LossReason reason) {
        reportedLoss = new ReportedLoss(ended, reason);
        turnstile.engineEvents().lost((Passage) this, ended, reason);
    }

    @Override
    public void wanted(Grant blocking) {
        turnstile.engineEvents().wanted((Passage) this);
    }

    @Override
    public void waiting() {
        turnstile.engineEvents().waiting((Passage) this);
    }

    /** The reason that the engine reported for the loss of this passage's grant; null if it reported none. */
    @Nullable
    LossReason reportedLoss() {
        ReportedLoss reported = reportedLoss;
        return reported != null && isOf(reported.grant) ? reported.reason : null;
    }

    private record ReportedLoss(Grant grant, LossReason reason) {}
}
