package dev.lockstep.spring;

import dev.lockstep.Lease;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** A lease in a transaction of the current thread, which {@link LastInTransaction} releases. */
final class ReleaseAfterTransaction extends LeaseInTransaction implements TransactionSynchronization {
    private boolean leftToLast; // used by the thread of the transaction

    private ReleaseAfterTransaction(boolean fenced) {
        super(fenced);
    }

    /** Joins the transaction of the current thread. */
    static ReleaseAfterTransaction register(boolean fenced) {
        ReleaseAfterTransaction release = new ReleaseAfterTransaction(fenced);
        TransactionSynchronizationManager.registerSynchronization(release);
        return release;
    }

    /** Joins the transaction of the current thread with a lease, which is released if that is not possible. */
    static ReleaseAfterTransaction register(Lease lease, boolean fenced) {
        try {
            ReleaseAfterTransaction release = register(fenced);
            release.begin(lease);
            return release;
        } catch (RuntimeException | Error e) {
            Holding.closeAfter(e, lease);
            throw e;
        }
    }

    @Override
    public void beforeCommit(boolean readOnly) {
        ensureHeld();
    }

    /** By now, most others have registered. */
    @Override
    public void beforeCompletion() {
        LastInTransaction.releases(this);
        leftToLast = true;
    }

    /** For a lock that was acquired while the transaction was ending already. */
    @Override
    public void afterCompletion(int status) {
        if (!leftToLast) {
            releaseQuietly(status == STATUS_COMMITTED);
        }
    }
}
