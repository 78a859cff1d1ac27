package dev.lockstep.spring;

import dev.lockstep.Lease;
import java.util.concurrent.CompletableFuture;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** The end of the current thread's transaction. */
final class TransactionEnd {
    private TransactionEnd() {}

    /** A future that is done when the transaction has ended. If the lease is lost before the commit, it is rolled back. */
    static CompletableFuture<Void> of(Lease lease, boolean fenced) {
        CompletableFuture<Void> end = new CompletableFuture<>();
        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
            @Override
            public void beforeCommit(boolean readOnly) {
                if (!fenced) {
                    lease.ensureValid();
                }
            }

            @Override
            public void afterCompletion(int status) {
                end.complete(null);
            }
        });
        return end;
    }
}
