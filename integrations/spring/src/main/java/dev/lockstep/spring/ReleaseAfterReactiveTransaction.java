package dev.lockstep.spring;

import dev.lockstep.Lease;
import java.util.Optional;
import org.springframework.transaction.NoTransactionException;
import org.springframework.transaction.reactive.TransactionSynchronization;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;
import reactor.core.publisher.Mono;

/**
 * A lease in a caller's reactive transaction. No exception reaches the caller after a commit: Spring logs what {@code
 * afterCompletion} throws, and if {@code afterCommit} throws, it does not call {@code afterCompletion} of others. So a
 * loss that is discovered then is logged.
 */
final class ReleaseAfterReactiveTransaction extends LeaseInTransaction implements TransactionSynchronization {
    private final TransactionSynchronizationManager transaction;

    private ReleaseAfterReactiveTransaction(TransactionSynchronizationManager transaction, boolean fenced) {
        super(fenced);
        this.transaction = transaction;
    }

    /** Joins the transaction of the current subscription; empty if there is none. */
    static Mono<Optional<LeaseInTransaction>> register(LockedInterceptor.Call call) {
        return TransactionSynchronizationManager.forCurrentTransaction()
                .map(transaction -> join(transaction, call))
                .onErrorResume(NoTransactionException.class, e -> Mono.just(Optional.empty()));
    }

    private static Optional<LeaseInTransaction> join(
            TransactionSynchronizationManager transaction, LockedInterceptor.Call call) {
        if (!transaction.isActualTransactionActive() || !transaction.isSynchronizationActive()) {
            return Optional.empty();
        }
        Transactions.warnOrRefuse(call.lock().name(), call.method().toString(), call.transaction());
        ReleaseAfterReactiveTransaction release =
                new ReleaseAfterReactiveTransaction(transaction, call.method().isFenced());
        transaction.registerSynchronization(release);
        return Optional.of(release);
    }

    @Override
    public Mono<Void> beforeCommit(boolean readOnly) {
        return Mono.fromRunnable(this::ensureHeld);
    }

    /** By now, most others have registered; see {@link LastInTransaction}. */
    @Override
    public Mono<Void> beforeCompletion() {
        return Mono.fromRunnable(() -> transaction.registerSynchronization(new Last()));
    }

    private Mono<Void> release(boolean committed) {
        Lease held = end();
        return held == null
                ? Mono.empty()
                : Mono.fromFuture(held::closeAsync).onErrorResume(failure -> {
                    log(held, Stages.unwrap(failure), committed);
                    return Mono.empty();
                });
    }

    /** The last action. */
    private final class Last implements TransactionSynchronization {
        @Override
        public Mono<Void> afterCompletion(int status) {
            return Mono.defer(() -> release(status == STATUS_COMMITTED));
        }
    }
}
