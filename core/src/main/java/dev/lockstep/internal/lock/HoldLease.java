package dev.lockstep.internal.lock;

import dev.lockstep.Lease;
import dev.lockstep.LossReason;
import dev.lockstep.internal.concurrent.CallerContext;
import dev.lockstep.internal.turnstile.Hold;
import dev.lockstep.internal.turnstile.ImmediateLossAction;
import dev.lockstep.internal.turnstile.Releases;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/** A handle of a hold. */
public final class HoldLease extends AtomicBoolean implements Lease {
    // Extends AtomicBoolean ("closed") to be one object: leases are made for every acquire.
    private static final long serialVersionUID = 1L;

    private final transient Hold hold;

    public HoldLease(Hold hold) {
        this.hold = hold;
    }

    @Override
    public String lockName() {
        return hold.turnstile.name();
    }

    @Override
    public long token() {
        long drawn = hold.drawnToken();
        return drawn != 0 ? drawn : hold.turnstile.drawToken(hold);
    }

    @Override
    public long token(String lockName) {
        if (!lockName.equals(lockName())) {
            throw new IllegalArgumentException(
                    "This is a lease of lock '" + lockName() + "', not of '" + lockName + "'.");
        }
        return token();
    }

    @Override
    public boolean isFallback() {
        return hold.isForeign();
    }

    @Override
    public boolean isValid() {
        return !get() && hold.isValid(hold.turnstile.client().nanoTime());
    }

    @Override
    public Duration remaining() {
        long now = hold.turnstile.client().nanoTime();
        return !get() && hold.isValid(now) ? Duration.ofNanos(hold.deadlineNanos() - now) : Duration.ZERO;
    }

    @Override
    public void ensureValid() {
        if (isValid()) {
            return;
        }
        if (hold.loss() != null) {
            throw hold.lostException();
        }
        throw new IllegalStateException("The lease of lock '" + lockName() + "' was closed.");
    }

    @Override
    public void onLost(Consumer<LossReason> action) {
        hold.turnstile.onLost(hold, CallerContext.carry(Objects.requireNonNull(action, "action")));
    }

    /** Runs code of the core when the hold is lost, not on the executor. It must not wait. */
    public void onLoss(Runnable code) {
        hold.turnstile.onLost(hold, (ImmediateLossAction) reason -> code.run());
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        return hold.unwrap(type);
    }

    @Override
    public void close() {
        if (mayClose()) {
            Releases.release(hold, Releases.Part.LEASE, hold.turnstile.client());
        }
    }

    @Override
    public CompletableFuture<Void> closeAsync() {
        return mayClose()
                ? CallerContext.carry(Releases.releaseAsync(hold, hold.turnstile.client()))
                : CompletableFuture.completedFuture(null);
    }

    Hold hold() {
        return hold;
    }

    /** True the first time. */
    boolean mayClose() {
        if (get()) {
            return false;
        }
        if (hold.owner != null && hold.owner != Thread.currentThread()) {
            throw new IllegalMonitorStateException(
                    "The lease of lock '" + lockName() + "' belongs to thread " + hold.owner.getName()
                            + " and must be closed by it. Leases of acquireAsync() may be closed anywhere.");
        }
        return compareAndSet(false, true);
    }

    @Override
    public String toString() {
        return "Lease[" + lockName() + (get() ? ", closed]" : "]");
    }
}
