package dev.lockstep.cdi;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockNotAcquiredException;
import dev.lockstep.LockTemplate;
import dev.lockstep.LockTimeoutException;
import dev.lockstep.annotation.Locked;
import jakarta.annotation.Priority;
import jakarta.enterprise.inject.Any;
import jakarta.enterprise.inject.Default;
import jakarta.enterprise.inject.Instance;
import jakarta.enterprise.inject.literal.NamedLiteral;
import jakarta.inject.Inject;
import jakarta.interceptor.AroundInvoke;
import jakarta.interceptor.Interceptor;
import jakarta.interceptor.InvocationContext;
import java.io.Serializable;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Runs a call of a {@link Locked} method under its lock. Outside of the interceptor of transactions, which has the priority {@code
 * PLATFORM_BEFORE + 200}. Safe for use by many threads.
 */
@Interceptor
@Locked(name = "")
@Priority(Interceptor.Priority.PLATFORM_BEFORE + 150)
class LockedInterceptor implements Serializable {
    private static final long serialVersionUID = 1L;

    @SuppressWarnings("serial") // the container's own, which can be
    private final Instance<LockClient> clients;

    @SuppressWarnings("serial") // a proxy
    private final LockedMethods methods;

    @Inject
    LockedInterceptor(@Any Instance<LockClient> clients, LockedMethods methods) {
        this.clients = clients;
        this.methods = methods;
    }

    @AroundInvoke
    @Nullable
    Object call(InvocationContext invocation) throws Exception {
        Optional<LockedMethod> found = methods.find(invocation.getTarget().getClass(), invocation.getMethod());
        if (found.isEmpty()) {
            return invocation.proceed();
        }
        LockedMethod method = found.get();
        LockClient client = client(method);
        LockTemplate template = method.template(client);
        DistributedLock lock = method.lock(client, invocation.getParameters());
        AtomicBoolean ran = new AtomicBoolean();
        try {
            return method.isAsynchronousMethod()
                    ? callStage(template, lock, method, invocation, ran)
                    : callValue(template, lock, method, invocation, ran);
        } catch (LockTimeoutException e) {
            if (ran.get() || method.throwsIfBusy()) {
                throw e;
            }
            return method.busyResult(invocation.getTarget(), invocation.getParameters());
        } catch (InterruptedException e) {
            if (ran.get() || method.throwsInterrupted()) {
                throw e;
            }
            Thread.currentThread().interrupt();
            throw new LockNotAcquiredException(
                    lock.name(), "Lock '" + lock.name() + "': the thread was interrupted while it waited.", e);
        }
    }

    @SuppressWarnings("NullAway") // does not know that the work's result may be null
    private static @Nullable Object callValue(
            LockTemplate template,
            DistributedLock lock,
            LockedMethod method,
            InvocationContext invocation,
            AtomicBoolean ran)
            throws Exception {
        return template.execute(lock, lease -> {
            ran.set(true);
            return proceed(method, invocation, lease);
        });
    }

    /**
     * The calling thread waits for the lock and runs the method, so that the contexts of CDI are there; the lock is held until the stage
     * is done, and belongs to the call.
     */
    private static @Nullable Object callStage(
            LockTemplate template,
            DistributedLock lock,
            LockedMethod method,
            InvocationContext invocation,
            AtomicBoolean ran)
            throws Exception {
        CompletableFuture<Lease> acquired = new CompletableFuture<>();
        CompletableFuture<@Nullable Object> work = new CompletableFuture<>();
        CompletableFuture<@Nullable Object> result = template.executeAsync(lock, lease -> {
            acquired.complete(lease);
            return work;
        });
        result.whenComplete((value, failure) -> {
            if (failure != null) {
                acquired.completeExceptionally(failure); // no effect once it is acquired
            }
        });
        Lease lease;
        try {
            lease = await(acquired);
        } catch (InterruptedException e) {
            result.cancel(false);
            work.cancel(false); // the lock may just have been acquired: it is released when the work is done
            throw e;
        }
        ran.set(true);
        try {
            if (proceed(method, invocation, lease) instanceof CompletionStage<?> stage) {
                stage.whenComplete((value, failure) -> {
                    if (failure == null) {
                        work.complete(value);
                    } else {
                        work.completeExceptionally(failure);
                    }
                });
                return result;
            }
            work.complete(null); // the method returned null
            return null;
        } catch (Exception | Error e) {
            work.completeExceptionally(e);
            throw e;
        }
    }

    private static Lease await(CompletableFuture<Lease> acquired) throws Exception {
        try {
            return acquired.get();
        } catch (ExecutionException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        }
    }

    private static @Nullable Object proceed(LockedMethod method, InvocationContext invocation, Lease lease)
            throws Exception {
        invocation.setParameters(method.withLease(invocation.getParameters(), lease));
        return invocation.proceed();
    }

    private LockClient client(LockedMethod method) {
        Instance<LockClient> wanted = method.client().isEmpty()
                ? clients.select(Default.Literal.INSTANCE)
                : clients.select(NamedLiteral.of(method.client()));
        if (wanted.isUnsatisfied() || wanted.isAmbiguous()) {
            throw new LockConfigurationException(
                    null,
                    "@Locked on " + method + ": there is " + (wanted.isAmbiguous() ? "more than one" : "no")
                            + " LockClient"
                            + (method.client().isEmpty() ? "" : " with @Named(\"" + method.client() + "\")")
                            + ". Name one with client = \"…\".");
        }
        return wanted.get();
    }
}
