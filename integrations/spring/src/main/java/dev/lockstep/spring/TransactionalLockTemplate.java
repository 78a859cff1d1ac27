package dev.lockstep.spring;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockCallback;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockOptions;
import dev.lockstep.LockTemplate;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A {@link LockTemplate} for Spring. It works as {@link LockClient#template()} does, except that in a transaction of
 * the caller the lock is released after the transaction has ended: if it was released when the work returns, the next
 * holder would not see what the work has written. See {@link CallerTransaction}. Immutable, safe for use by many
 * threads.
 *
 * <p>In such a transaction, a loss that is known before the commit rolls the transaction back with a {@link
 * dev.lockstep.LockLostException}; one that is discovered later is thrown as {@link
 * dev.lockstep.LockLostAfterWorkException} by the code that commits.
 */
public final class TransactionalLockTemplate implements LockTemplate {
    private final LockClient client;
    private final LockOptions options;
    private final LockDefaults defaults;
    private final boolean fenced;

    /**
     * Makes a template.
     *
     * @param client the source of its locks
     * @param options how they behave
     * @param defaults how long to wait, and what to do in a transaction of the caller
     */
    public TransactionalLockTemplate(LockClient client, LockOptions options, LockDefaults defaults) {
        this(client, options, defaults, false);
    }

    private TransactionalLockTemplate(LockClient client, LockOptions options, LockDefaults defaults, boolean fenced) {
        this.client = Objects.requireNonNull(client, "client");
        this.options = Objects.requireNonNull(options, "options");
        this.defaults = Objects.requireNonNull(defaults, "defaults");
        this.fenced = fenced;
    }

    @Override
    public <T extends @Nullable Object, E extends Exception> T execute(String name, LockCallback<T, E> work)
            throws E, InterruptedException {
        return execute(client.lock(name, options), work);
    }

    @Override
    public <T extends @Nullable Object, E extends Exception> T execute(DistributedLock lock, LockCallback<T, E> work)
            throws E, InterruptedException {
        Objects.requireNonNull(work, "work");
        boolean inTransaction = isInTransaction(lock, true);
        Optional<Lease> taken = lock.tryAcquire(defaults.waitAtMost());
        if (taken.isEmpty()) {
            throw Holding.busy(client, lock, defaults.waitAtMost());
        }
        return Holding.run(taken.get(), fenced, inTransaction, work);
    }

    @Override
    public <T extends @Nullable Object> CompletableFuture<T> executeAsync(
            String name, Function<Lease, ? extends CompletionStage<T>> work) {
        return executeAsync(client.lock(name, options), work);
    }

    /**
     * Runs asynchronous work. In a transaction of the calling thread, the lock is released when the transaction and the work have
     * ended, or the future fails; see {@link CallerTransaction}. The work itself runs outside of that transaction.
     */
    @Override
    public <T extends @Nullable Object> CompletableFuture<T> executeAsync(
            DistributedLock lock, Function<Lease, ? extends CompletionStage<T>> work) {
        try {
            return isInTransaction(lock, false)
                    ? new AsyncInTransaction<T>(lock, defaults.waitAtMost(), fenced, work).start()
                    : plain().executeAsync(lock, work);
        } catch (LockConfigurationException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private boolean isInTransaction(DistributedLock lock, boolean reentrant) {
        return Transactions.check(lock, reentrant, "LockTemplate, locks " + group(lock.name()), defaults.transaction());
    }

    /** Locks for which there is one warning: those of the options' group, or those with the same name before the first colon. */
    private String group(String lock) {
        return "'" + options.group().orElseGet(() -> lock.replaceFirst(":.*", ":…")) + "'";
    }

    private LockTemplate plain() {
        LockTemplate plain = client.template(options).waitAtMost(defaults.waitAtMost());
        return fenced ? plain.fenced() : plain;
    }

    @Override
    public LockTemplate waitAtMost(Duration wait) {
        return new TransactionalLockTemplate(client, options, new LockDefaults(wait, defaults.transaction()), fenced);
    }

    @Override
    public LockTemplate fenced() {
        return new TransactionalLockTemplate(client, options, defaults, true);
    }
}
