package dev.lockstep.spi;

import dev.lockstep.LossReason;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * The bookkeeping of a grant: its token, its deadline and its two signals. A backend adds {@link #release}, and {@link
 * #downgrade} if the engine can do it.
 *
 * <p>Safe for use by many threads.
 */
public abstract class AbstractGrant implements Grant, Renewable {
    private static final VarHandle VALID_UNTIL;
    private static final VarHandle LOSS;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            VALID_UNTIL = lookup.findVarHandle(AbstractGrant.class, "validUntilNanos", long.class);
            LOSS = lookup.findVarHandle(AbstractGrant.class, "loss", LossReason.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final GrantListener listener;
    private final long token;
    private volatile long validUntilNanos;
    private volatile @Nullable LossReason loss;
    private volatile boolean wanted;

    /**
     * Makes a grant.
     *
     * @param listener is notified when the grant is lost, and when another client wants the lock
     * @param token the engine's token
     * @param validUntilNanos until when it is valid if nothing renews it
     */
    protected AbstractGrant(GrantListener listener, long token, long validUntilNanos) {
        this.listener = listener;
        this.token = token;
        // Not a volatile write, whose fence would be most of the cost of a new grant; the code that passes it on
        // publishes it.
        VALID_UNTIL.setRelease(this, validUntilNanos);
    }

    @Override
    public long token() {
        return token;
    }

    @Override
    public long validUntilNanos() {
        return validUntilNanos;
    }

    /** Moves the deadline forward; a deadline that is not later changes nothing. */
    @Override
    public void renewedUntil(long deadlineNanos) {
        long current = validUntilNanos;
        while (deadlineNanos - current > 0 && !VALID_UNTIL.compareAndSet(this, current, deadlineNanos)) {
            current = validUntilNanos;
        }
    }

    /** Notifies the core that the engine ended this grant. Only the first reason counts. */
    @Override
    public void signalLost(LossReason reason) {
        if (LOSS.compareAndSet(this, null, reason)) {
            listener.lost(this, reason);
        }
    }

    /** Notifies the core that this grant blocks another client's claim. */
    public final void signalWanted() {
        if (!wanted) {
            wanted = true;
            listener.wanted(this);
        }
    }

    /**
     * Returns whether the loss was signalled.
     *
     * @return true after {@link #signalLost}
     */
    public final boolean isLost() {
        return loss != null;
    }

    /**
     * Returns whether it is held, as far as this client knows.
     *
     * @param nowNanos the {@link Scheduler#nanoTime()}
     * @return false after its deadline, and after {@link #signalLost}
     */
    public final boolean isValid(long nowNanos) {
        return !isLost() && validUntilNanos() - nowNanos > 0;
    }

    @Override
    public final boolean isWanted() {
        return wanted;
    }
}
