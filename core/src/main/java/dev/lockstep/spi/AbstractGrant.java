package dev.lockstep.spi;

import dev.lockstep.LossReason;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The bookkeeping of a grant: its token, its deadline and its two signals. Signals cost nothing until somebody asks for
 * them. A backend adds {@link #release}, and where it can {@link #downgrade}.
 *
 * <p>Safe for use by many threads.
 */
public abstract class AbstractGrant implements Grant, Renewable {
    private static final VarHandle VALID_UNTIL;
    private static final VarHandle LOST;
    private static final VarHandle WANTED;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            VALID_UNTIL = lookup.findVarHandle(AbstractGrant.class, "validUntilNanos", long.class);
            LOST = lookup.findVarHandle(AbstractGrant.class, "lost", CompletableFuture.class);
            WANTED = lookup.findVarHandle(AbstractGrant.class, "wanted", CompletableFuture.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final long token;
    private volatile long validUntilNanos;
    private volatile @Nullable CompletableFuture<LossReason> lost;
    private volatile @Nullable CompletableFuture<Void> wanted;

    /**
     * Makes a grant.
     *
     * @param token the engine's token
     * @param validUntilNanos until when it is valid if nothing renews it
     */
    protected AbstractGrant(long token, long validUntilNanos) {
        this.token = token;
        // Not a volatile write, whose fence would be most of the cost of a new grant; who hands it on publishes it.
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

    /** Tells the core that the engine ended this grant. Only the first reason counts. */
    @Override
    public void signalLost(LossReason reason) {
        lost().complete(reason);
    }

    /** Tells the core that another client's claim is blocked by this grant. */
    public final void signalWanted() {
        wanted().complete(null);
    }

    /**
     * Tells whether the loss was signalled.
     *
     * @return true after {@link #signalLost}
     */
    public final boolean isLost() {
        CompletableFuture<LossReason> known = lost;
        return known != null && known.isDone();
    }

    @Override
    public final CompletableFuture<LossReason> lost() {
        CompletableFuture<LossReason> known = lost;
        if (known != null) {
            return known;
        }
        CompletableFuture<LossReason> fresh = new CompletableFuture<>();
        return LOST.compareAndSet(this, null, fresh) ? fresh : lost();
    }

    @Override
    public final CompletableFuture<Void> wanted() {
        CompletableFuture<Void> known = wanted;
        if (known != null) {
            return known;
        }
        CompletableFuture<Void> fresh = new CompletableFuture<>();
        return WANTED.compareAndSet(this, null, fresh) ? fresh : wanted();
    }

    @Override
    public final boolean isWanted() {
        CompletableFuture<Void> known = wanted;
        return known != null && known.isDone();
    }
}
