package dev.lockstep.spring;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockNotAcquiredException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/** Runs a call of a {@link dev.lockstep.annotation.Locked} method under its lock. Safe for use by many threads. */
final class LockedInterceptor implements MethodInterceptor {
    private static final boolean OBSERVATIONS = Library.OBSERVATIONS.isPresent();

    private final ConfigurableListableBeanFactory beans;
    private final LockedMethods methods;
    private final ObjectProvider<LockDefaults> configured;
    private final Map<String, LockClient> clients = new ConcurrentHashMap<>();
    private volatile @Nullable LockDefaults defaults;
    private volatile @Nullable CallTracing tracing;

    LockedInterceptor(
            ConfigurableListableBeanFactory beans, LockedMethods methods, ObjectProvider<LockDefaults> configured) {
        this.beans = beans;
        this.methods = methods;
        this.configured = configured;
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        Object target = Objects.requireNonNull(invocation.getThis(), "target");
        Method called = invocation.getMethod();
        LockedMethod method = methods.find(called, AopUtils.getTargetClass(target));
        if (method == null) {
            return invocation.proceed();
        }
        LockClient client = client(method);
        List<String> names = method.names(target, invocation.getArguments());
        Call call = new Call(
                method,
                invocation,
                target,
                client,
                names,
                method.lock(client, names),
                method.wait(defaults().waitAtMost()),
                defaults().transaction());
        return tracing().observe(call, () -> run(call));
    }

    private @Nullable Object run(Call call) throws Throwable {
        return switch (call.method().shape()) {
            case VALUE -> value(call);
            case STAGE -> Stages.run(call, isInTransaction(call, false));
            case PUBLISHER -> Publishers.run(call);
        };
    }

    @SuppressWarnings("NullAway") // does not know that the work's result may be null
    private @Nullable Object value(Call call) throws Throwable {
        boolean inTransaction = isInTransaction(call, true);
        Optional<Lease> taken;
        try {
            taken = call.lock().tryAcquire(call.waitAtMost());
        } catch (InterruptedException e) {
            throw interrupted(call, e);
        }
        if (taken.isEmpty()) {
            return call.busy();
        }
        return Holding.run(taken.get(), call.method().isFenced(), inTransaction, call::proceed);
    }

    private static boolean isInTransaction(Call call, boolean reentrant) {
        return !call.method().isIndependent()
                && Transactions.check(call.lock(), reentrant, call.method().toString(), call.transaction());
    }

    /** The exception for a caller that was interrupted while it waited for the lock. */
    static Exception interrupted(Call call, InterruptedException e) {
        if (call.method().throwsInterrupted()) {
            return e;
        }
        Thread.currentThread().interrupt();
        return new LockNotAcquiredException(
                call.lock().name(),
                "Lock '" + call.lock().name() + "': the thread was interrupted while it waited.",
                e);
    }

    private LockClient client(LockedMethod method) {
        String qualifier = method.client();
        LockClient known = clients.get(qualifier);
        if (known == null) {
            known = Clients.find(beans, qualifier, "@Locked on " + method);
            clients.put(qualifier, known);
        }
        return known;
    }

    private CallTracing tracing() {
        CallTracing known = tracing;
        if (known == null) {
            known = OBSERVATIONS ? ObservedCalls.of(beans) : CallTracing.NONE;
            tracing = known;
        }
        return known;
    }

    private LockDefaults defaults() {
        LockDefaults known = defaults;
        if (known == null) {
            known = configured.getIfAvailable(() -> LockDefaults.USUAL);
            defaults = known;
        }
        return known;
    }

    /** One call of a locked method. */
    record Call(
            LockedMethod method,
            MethodInvocation invocation,
            Object target,
            LockClient client,
            List<String> names,
            DistributedLock lock,
            Duration waitAtMost,
            CallerTransaction transaction) {

        @Nullable
        Object proceed(Lease lease) throws Exception {
            return proceed(invocation, lease);
        }

        @Nullable
        Object proceed(MethodInvocation way, Lease lease) throws Exception {
            method.inject(way.getArguments(), lease);
            try {
                return way.proceed();
            } catch (Exception | Error e) {
                throw e;
            } catch (Throwable e) {
                throw new IllegalStateException(e); // no method throws such a thing
            }
        }

        /** The behaviour if the lock is held elsewhere. */
        @Nullable
        Object busy() throws Throwable {
            if (method.throwsIfBusy()) {
                throw Holding.busy(client, lock, waitAtMost);
            }
            return method.busyResult(target, invocation.getArguments());
        }
    }
}
