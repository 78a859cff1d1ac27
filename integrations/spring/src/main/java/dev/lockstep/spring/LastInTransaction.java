package dev.lockstep.spring;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Releases all leases of a transaction, after everything else that runs at its end, such as a {@code
 * TransactionalEventListener}. There is one in a transaction. It is registered just before the transaction completes: Spring
 * calls synchronizations of the same order as they were registered, so one that is registered with the lock is not the last.
 *
 * <p>Listeners for {@code AFTER_COMMIT} run in {@code afterCompletion}, and so does the release; a loss that it discovers is
 * thrown by {@link CommitListener}. If the transaction manager has no such listener, only exceptions of {@code
 * afterCommit} reach the caller: then the leases are released there if no other resource is in the transaction.
 * Otherwise a loss that is known there is thrown, and the release follows in {@code afterCompletion}. Used by one
 * thread.
 */
final class LastInTransaction implements TransactionSynchronization {
    private final List<ReleaseAfterTransaction> leases = new ArrayList<>();
    private CommitListener.@Nullable Commit commit;

    private LastInTransaction() {}

    /** Leaves a lease to the last synchronization of the current thread's transaction. */
    static void releases(ReleaseAfterTransaction lease) {
        LastInTransaction last = null;
        for (TransactionSynchronization other : TransactionSynchronizationManager.getSynchronizations()) {
            last = other instanceof LastInTransaction found ? found : last;
        }
        if (last == null) {
            last = new LastInTransaction();
            TransactionSynchronizationManager.registerSynchronization(last);
        }
        last.leases.add(lease);
    }

    private static boolean isAlone() {
        return TransactionSynchronizationManager.getSynchronizations().stream()
                .allMatch(other -> other instanceof LastInTransaction || other instanceof ReleaseAfterTransaction);
    }

    @Override
    public void afterCommit() {
        commit = CommitListener.current();
        if (commit != null) {
            return;
        }
        boolean alone = isAlone();
        RuntimeException first = null;
        for (ReleaseAfterTransaction lease : leases) {
            first = add(first, alone ? lease.release() : lease.knownLoss());
        }
        if (first != null) {
            throw first;
        }
    }

    private static @Nullable RuntimeException add(@Nullable RuntimeException first, @Nullable RuntimeException next) {
        if (first == null || next == null) {
            return first == null ? next : first;
        }
        first.addSuppressed(next);
        return first;
    }

    @Override
    public void afterCompletion(int status) {
        for (ReleaseAfterTransaction lease : leases) {
            if (commit != null) {
                commit.fail(lease.release());
            } else {
                lease.releaseQuietly(status == STATUS_COMMITTED);
            }
        }
    }
}
