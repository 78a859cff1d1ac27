package dev.lockstep.spring;

import dev.lockstep.Lease;
import dev.lockstep.LockLostException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.Ordered;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Releases a lease after the transaction of the current thread has ended. A loss that is known before the commit rolls the
 * transaction back; one that is discovered by the release reaches the caller, too, since what {@code afterCommit} throws does.
 * Used by one thread.
 */
final class ReleaseAfterTransaction implements TransactionSynchronization {
    private static final Logger log = LoggerFactory.getLogger(ReleaseAfterTransaction.class);

    private final Lease lease;
    private final boolean fenced;
    private boolean hasResult;
    private boolean released;
    private @Nullable Object result;

    private ReleaseAfterTransaction(Lease lease, boolean fenced) {
        this.lease = lease;
        this.fenced = fenced;
    }

    static ReleaseAfterTransaction register(Lease lease, boolean fenced) {
        ReleaseAfterTransaction release = new ReleaseAfterTransaction(lease, fenced);
        TransactionSynchronizationManager.registerSynchronization(release);
        return release;
    }

    /** The work has returned. */
    void returned(@Nullable Object value) {
        result = value;
        hasResult = true;
    }

    /** After all others, so that they run under the lock. */
    @Override
    public int getOrder() {
        return Ordered.LOWEST_PRECEDENCE;
    }

    @Override
    public void beforeCommit(boolean readOnly) {
        if (!fenced) {
            lease.ensureValid();
        }
    }

    @Override
    public void afterCommit() {
        released = true;
        if (hasResult) {
            Holding.close(lease, fenced, result);
        } else {
            lease.close();
        }
    }

    /** After a rollback, or if {@code afterCommit} was not called: the caller has an exception already. */
    @Override
    public void afterCompletion(int status) {
        if (released) {
            return;
        }
        released = true;
        try {
            lease.close();
        } catch (LockLostException e) {
            log.debug("Lock '{}' had been lost when its transaction ended without a commit", lease.lockName(), e);
        } catch (RuntimeException e) {
            log.warn("Lock '{}' was not released after its transaction", lease.lockName(), e);
        }
    }
}
