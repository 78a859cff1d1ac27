package dev.lockstep.spring;

import org.jspecify.annotations.Nullable;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;

/**
 * Throws what a release after a commit has found, in the thread that commits. Spring logs what synchronizations throw when the
 * transaction has completed, but a listener of the transaction manager runs after them, and what it throws reaches the caller.
 * Safe for use by many threads.
 */
final class CommitListener implements TransactionExecutionListener {
    private static final ThreadLocal<@Nullable Commit> CURRENT = new ThreadLocal<>();
    private static final CommitListener INSTANCE = new CommitListener();

    private CommitListener() {}

    /** A commit that is under way. Used by one thread. */
    static final class Commit {
        private final TransactionExecution transaction;
        private final @Nullable Commit outer;
        private @Nullable RuntimeException problem;

        private Commit(TransactionExecution transaction, @Nullable Commit outer) {
            this.transaction = transaction;
            this.outer = outer;
        }

        /** Makes the commit throw at its end. */
        void fail(@Nullable RuntimeException thrown) {
            if (problem == null) {
                problem = thrown;
            } else if (thrown != null) {
                problem.addSuppressed(thrown);
            }
        }
    }

    /** Adds the listener to a bean that is a transaction manager. */
    static void addTo(Object bean) {
        if (bean instanceof PlatformTransactionManager // whose transactions belong to threads
                && bean instanceof ConfigurableTransactionManager manager
                && !manager.getTransactionExecutionListeners().contains(INSTANCE)) {
            manager.addListener(INSTANCE);
        }
    }

    /** The commit of the current thread; null if its transaction manager has no listener. */
    static @Nullable Commit current() {
        return CURRENT.get();
    }

    @Override
    public void beforeCommit(TransactionExecution transaction) {
        CURRENT.set(new Commit(transaction, CURRENT.get()));
    }

    @Override
    public void afterCommit(TransactionExecution transaction, @Nullable Throwable failure) {
        Commit commit = end(transaction);
        if (failure == null && commit != null && commit.problem != null) {
            throw commit.problem;
        }
    }

    @Override
    public void afterRollback(TransactionExecution transaction, @Nullable Throwable failure) {
        end(transaction);
    }

    private static @Nullable Commit end(TransactionExecution transaction) {
        Commit commit = CURRENT.get();
        if (commit == null || commit.transaction != transaction) {
            return null;
        }
        if (commit.outer == null) {
            CURRENT.remove();
        } else {
            CURRENT.set(commit.outer);
        }
        return commit;
    }
}
