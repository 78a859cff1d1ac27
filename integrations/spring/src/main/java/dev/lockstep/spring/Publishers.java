package dev.lockstep.spring;

import dev.lockstep.Lease;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;
import reactor.core.scheduler.Schedulers;

/**
 * Methods that return a {@link Mono}, a {@link Flux} or what Spring converts to them: each subscription acquires the lock without
 * blocking, calls the method, and holds the lock until its publisher completes, fails or is cancelled; in a caller's reactive
 * transaction, until that has ended, too.
 */
final class Publishers {
    /** Signals that a lock is busy; one for each subscription, so that no other subscription catches it. */
    private static final class Busy extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Busy() {
            super("busy", null, false, false);
        }
    }

    /** The type that a suspend function becomes. */
    static final Class<?> ONE = Mono.class;

    /** The type that a suspend function that returns a flow becomes. */
    static final Class<?> SEVERAL = Flux.class;

    private Publishers() {}

    static boolean isPublisher(Class<?> type) {
        return ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null;
    }

    static Object run(LockedInterceptor.Call call) {
        ReactiveAdapter adapter = Objects.requireNonNull(ReactiveAdapterRegistry.getSharedInstance()
                .getAdapter(call.method().returnType()));
        MethodInvocation first = copy(call.invocation());
        Publisher<?> locked = adapter.isMultiValue()
                ? Flux.defer(() -> flux(call, copy(first), adapter))
                : Mono.defer(() -> mono(call, copy(first), adapter));
        return adapter.fromPublisher(locked);
    }

    private static MethodInvocation copy(MethodInvocation invocation) {
        return ((ProxyMethodInvocation) invocation).invocableClone();
    }

    private static Mono<Object> mono(LockedInterceptor.Call call, MethodInvocation way, ReactiveAdapter adapter) {
        Busy busy = new Busy();
        AtomicReference<@Nullable Object> result = new AtomicReference<>();
        AtomicReference<@Nullable Throwable> problem = new AtomicReference<>();
        return transaction(call)
                .flatMap(transaction -> Mono.usingWhen(
                        acquire(call, busy, transaction),
                        lease -> Mono.from(work(call, way, lease, adapter)).doOnNext(result::set),
                        lease -> release(call, lease, transaction, result.get(), problem),
                        (lease, failure) -> releaseAfter(lease, transaction),
                        lease -> releaseAfter(lease, transaction)))
                .onErrorMap(failure -> unwrap(failure, problem.get()))
                .onErrorResume(failure -> failure == busy, failure -> Mono.from(busy(call, adapter)));
    }

    private static Flux<Object> flux(LockedInterceptor.Call call, MethodInvocation way, ReactiveAdapter adapter) {
        Busy busy = new Busy();
        AtomicReference<@Nullable Throwable> problem = new AtomicReference<>();
        return transaction(call)
                .flatMapMany(transaction -> Flux.usingWhen(
                        acquire(call, busy, transaction),
                        lease -> work(call, way, lease, adapter),
                        lease -> release(call, lease, transaction, null, problem),
                        (lease, failure) -> releaseAfter(lease, transaction),
                        lease -> releaseAfter(lease, transaction)))
                .onErrorMap(failure -> unwrap(failure, problem.get()))
                .onErrorResume(failure -> failure == busy, failure -> busy(call, adapter));
    }

    /** The caller's reactive transaction, with which the lease ends; empty if there is none. */
    private static Mono<Optional<LeaseInTransaction>> transaction(LockedInterceptor.Call call) {
        return Transactions.PRESENT && !call.method().isIndependent()
                ? ReleaseAfterReactiveTransaction.register(call)
                : Mono.just(Optional.empty());
    }

    private static Mono<Lease> acquire(
            LockedInterceptor.Call call, Busy busy, Optional<LeaseInTransaction> transaction) {
        return Mono.defer(() -> {
                    CompletableFuture<Optional<Lease>> acquiring = call.lock().tryAcquireAsync(call.waitAtMost());
                    return Mono.fromFuture(acquiring).doFinally(end -> {
                        if (end == SignalType.CANCEL) {
                            release(acquiring);
                        }
                    });
                })
                .flatMap((Function<Optional<Lease>, Mono<Lease>>)
                        taken -> taken.map(Mono::just).orElseGet(() -> Mono.error(busy)))
                .doOnNext(lease -> transaction.ifPresent(callers -> callers.begin(lease)));
    }

    /** A lease that was granted when its call was cancelled, too late for that, but that nobody receives. */
    @SuppressWarnings("FutureReturnValueIgnored") // nobody waits for it
    private static void release(CompletableFuture<Optional<Lease>> cancelled) {
        cancelled.thenAccept(taken -> taken.ifPresent(Lease::closeAsync));
    }

    private static Publisher<Object> work(
            LockedInterceptor.Call call, MethodInvocation way, Lease lease, ReactiveAdapter adapter) {
        try {
            return adapter.toPublisher(call.proceed(way, lease));
        } catch (Exception e) {
            return Mono.error(e);
        }
    }

    private static Mono<Void> release(
            LockedInterceptor.Call call,
            Lease lease,
            Optional<LeaseInTransaction> transaction,
            @Nullable Object result,
            AtomicReference<@Nullable Throwable> problem) {
        if (transaction.isPresent() && transaction.get().returned(result)) {
            return fail(transaction.get().knownLoss(), problem);
        }
        return Mono.fromFuture(lease::closeAsync)
                .onErrorResume(
                        failure -> fail(Stages.problem(failure, call.method().isFenced(), result), problem));
    }

    private static Mono<Void> fail(@Nullable Throwable found, AtomicReference<@Nullable Throwable> problem) {
        problem.set(found);
        return found == null ? Mono.empty() : Mono.error(found);
    }

    /** Reactor wraps what a release throws. */
    private static Throwable unwrap(Throwable failure, @Nullable Throwable problem) {
        return problem != null && failure.getCause() == problem ? problem : failure;
    }

    /** The exception of the work comes first. */
    private static Mono<Void> releaseAfter(Lease lease, Optional<LeaseInTransaction> transaction) {
        return transaction.isPresent() && transaction.get().threw()
                ? Mono.empty()
                : Mono.fromFuture(lease::closeAsync).onErrorComplete();
    }

    /** The busyMethod of a suspend function is an ordinary method that returns a plain value. */
    private static Publisher<Object> toPublisher(ReactiveAdapter adapter, Object instead) {
        return adapter.getReactiveType().isInstance(instead) ? adapter.toPublisher(instead) : Mono.just(instead);
    }

    private static Publisher<Object> busy(LockedInterceptor.Call call, ReactiveAdapter adapter) {
        if (call.method().throwsIfBusy()) {
            return Mono.fromCallable(() -> {
                        throw Holding.busy(call.client(), call.lock(), call.waitAtMost());
                    })
                    .subscribeOn(Schedulers.boundedElastic());
        }
        try {
            Object instead = call.busy();
            return instead == null ? Mono.empty() : toPublisher(adapter, instead);
        } catch (Throwable e) {
            return Mono.error(e);
        }
    }
}
