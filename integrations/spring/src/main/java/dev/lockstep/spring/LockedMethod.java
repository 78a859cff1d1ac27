package dev.lockstep.spring;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockOptions;
import dev.lockstep.annotation.Locked;
import dev.lockstep.annotation.LockedDurations;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.KotlinDetector;
import org.springframework.core.MethodParameter;
import org.springframework.util.ReflectionUtils;

/** One method and how it is locked, checked and ready for calls. Immutable, safe for use by many threads. */
final class LockedMethod {
    /** How a method's result ends the hold. */
    enum Shape {
        /** The work is done when the method returns. */
        VALUE,
        /** The work is done when the stage is. */
        STAGE,
        /** The work is done when the publisher is; it begins with each subscription. */
        PUBLISHER
    }

    private static final boolean REACTOR = Library.REACTOR.isPresent();

    private static final boolean COROUTINES =
            REACTOR && Library.COROUTINES.isPresent() && KotlinDetector.isKotlinReflectPresent();

    private final Locked locked;
    private final Method method;
    private final LockKeys keys;
    private final LockOptions options;
    private final @Nullable Duration wait;
    private final String client;
    private final Shape shape;
    private final int leaseIndex;
    private final @Nullable Method busyMethod;
    private final boolean independent;

    /**
     * Reads and checks an annotation.
     *
     * @throws IllegalStateException if it cannot work as it is
     */
    LockedMethod(
            Locked locked,
            Method method,
            Class<?> type,
            ConfigurableListableBeanFactory beans,
            Placeholders placeholders) {
        this.locked = locked;
        this.method = method;
        this.keys = new LockKeys(locked, method, beans, placeholders);
        this.wait = duration("waitAtMost", locked.waitAtMost(), placeholders);
        this.options = options(placeholders);
        this.client = text("client", locked.client(), placeholders);
        this.shape = shapeOf(method.getReturnType());
        List<Class<?>> parameters = Arrays.asList(method.getParameterTypes());
        this.leaseIndex = parameters.indexOf(Lease.class);
        this.busyMethod = locked.busyMethod().isEmpty() ? null : busyMethod(type, parameters);
        this.independent = Transactions.isIndependent(method, type);
        if (busyMethod == null
                && locked.onBusy() == Locked.OnBusy.SKIP
                && method.getReturnType().isPrimitive()
                && method.getReturnType() != void.class) {
            throw mistake("onBusy = SKIP has no result for a method that returns " + method.getReturnType()
                    + ". Return an Optional or void, or name a busyMethod");
        }
    }

    /** How the lock behaves. */
    private LockOptions options(Placeholders placeholders) {
        LockOptions chosen = LockOptions.defaults().group(keys.name());
        Duration maxHold = positive("maxHold", locked.maxHold(), placeholders);
        Duration minHold = positive("minHold", locked.minHold(), placeholders);
        try {
            chosen = maxHold == null ? chosen : chosen.maxHold(maxHold);
            chosen = minHold == null ? chosen : chosen.minHold(minHold);
        } catch (IllegalArgumentException | LockConfigurationException e) {
            throw mistake(String.valueOf(e.getMessage()));
        }
        return locked.fair() ? chosen.fair() : chosen;
    }

    private @Nullable Duration positive(String attribute, String text, Placeholders placeholders) {
        Duration chosen = duration(attribute, text, placeholders);
        if (chosen != null && (chosen.isZero() || chosen.isNegative())) {
            throw mistake(attribute + " must be positive");
        }
        return chosen;
    }

    private Shape shapeOf(Class<?> result) {
        if (isSuspending()) {
            if (!COROUTINES) {
                throw mistake("for a suspend function, org.jetbrains.kotlinx:kotlinx-coroutines-reactor and"
                        + " org.jetbrains.kotlin:kotlin-reflect must be on the class path");
            }
            return Shape.PUBLISHER; // Spring's proxies turn it into a Mono and back
        }
        if (Future.class.isAssignableFrom(result) || CompletionStage.class.isAssignableFrom(result)) {
            if (!result.isAssignableFrom(CompletableFuture.class) || result == Future.class) {
                throw mistake("nobody can see when a " + result.getSimpleName()
                        + " is done. Return a CompletionStage or a CompletableFuture");
            }
            return Shape.STAGE;
        }
        return REACTOR && Publishers.isPublisher(result) ? Shape.PUBLISHER : Shape.VALUE;
    }

    private boolean isSuspending() {
        return Arrays.stream(method.getParameterTypes()).anyMatch(LockedMethod::isContinuation);
    }

    private static boolean isContinuation(Class<?> parameter) {
        return parameter.getName().equals("kotlin.coroutines.Continuation");
    }

    private Method busyMethod(Class<?> type, List<Class<?>> parameters) {
        Class<?>[] wanted = parameters.stream()
                .filter(parameter -> parameter != Lease.class && !isContinuation(parameter))
                .toArray(Class<?>[]::new);
        Method found = ReflectionUtils.findMethod(type, locked.busyMethod(), wanted);
        if (found == null || !method.getReturnType().isAssignableFrom(found.getReturnType())) {
            throw mistake("there is no busyMethod " + method.getReturnType().getSimpleName() + " " + locked.busyMethod()
                    + Arrays.stream(wanted)
                            .map(Class::getSimpleName)
                            .toList()
                            .toString()
                            .replace('[', '(')
                            .replace(']', ')')
                    + " in " + type.getName());
        }
        ReflectionUtils.makeAccessible(found);
        return found;
    }

    private @Nullable Duration duration(String attribute, String value, Placeholders placeholders) {
        String text = text(attribute, value, placeholders);
        try {
            return text.isEmpty() ? null : LockedDurations.parse(text);
        } catch (IllegalArgumentException e) {
            throw mistake(attribute + ": " + e.getMessage());
        }
    }

    private String text(String attribute, String value, Placeholders placeholders) {
        return placeholders.resolve(method, attribute, value).strip();
    }

    private IllegalStateException mistake(String what) {
        return mistake(method, what);
    }

    static IllegalStateException mistake(Method method, String what) {
        return new IllegalStateException("@Locked on " + describe(method) + ": " + what + ".");
    }

    /** A method for people: class, name and parameters. */
    static String describe(Method method) {
        return method.getDeclaringClass().getName() + "." + method.getName()
                + Arrays.stream(method.getParameterTypes())
                        .map(Class::getSimpleName)
                        .toList()
                        .toString()
                        .replace('[', '(')
                        .replace(']', ')');
    }

    /** The locks of a call. */
    List<String> names(Object target, Object[] arguments) {
        return keys.names(target, arguments);
    }

    DistributedLock lock(LockClient from, List<String> names) {
        if (locked.mode() == Locked.Mode.READ) {
            return from.readWriteLock(names.get(0), options).readLock();
        }
        return names.size() == 1 ? from.lock(names.get(0), options) : from.multiLock(names, options);
    }

    /** How long to wait. SKIP does not wait: the holder might finish meanwhile, and the work would be done twice. */
    Duration wait(Duration usual) {
        if (wait != null) {
            return wait;
        }
        return isSkipped() && busyMethod == null ? Duration.ZERO : usual;
    }

    Locked annotation() {
        return locked;
    }

    String client() {
        return client;
    }

    Shape shape() {
        return shape;
    }

    Class<?>[] parameterTypes() {
        return method.getParameterTypes();
    }

    @Nullable
    Method busyMethod() {
        return busyMethod;
    }

    /** The return type of the method; for a suspend function, the type that Spring makes of it. */
    Class<?> returnType() {
        if (!isSuspending()) {
            return method.getReturnType();
        }
        boolean isFlow =
                new MethodParameter(method, -1).getParameterType().getName().equals("kotlinx.coroutines.flow.Flow");
        return isFlow ? Publishers.SEVERAL : Publishers.ONE;
    }

    boolean isFenced() {
        return locked.fenced();
    }

    /** Whether the method has nothing to do with a transaction of its caller. */
    boolean isIndependent() {
        return independent;
    }

    /** Whether the method declares {@code InterruptedException}, for a caller that is interrupted while it waits. */
    boolean throwsInterrupted() {
        return Arrays.stream(method.getExceptionTypes())
                .anyMatch(type -> type.isAssignableFrom(InterruptedException.class));
    }

    private boolean isSkipped() {
        return locked.onBusy() == Locked.OnBusy.SKIP;
    }

    /** Passes the lease to the method, if it wants it. */
    void inject(Object[] arguments, Lease lease) {
        if (leaseIndex >= 0) {
            arguments[leaseIndex] = lease;
        }
    }

    /** Whether a call that finds the lock busy throws. */
    boolean throwsIfBusy() {
        return busyMethod == null && !isSkipped();
    }

    /** The result of a call that finds the lock busy; for a publisher, null if it is to be empty. */
    @SuppressWarnings("FutureReturnValueIgnored") // the caller gets it
    @Nullable
    Object busyResult(Object target, Object[] arguments) throws Throwable {
        if (busyMethod != null) {
            Object[] others = new Object[busyMethod.getParameterCount()];
            for (int from = 0, to = 0; to < others.length; from++) {
                if (from != leaseIndex) {
                    others[to++] = arguments[from];
                }
            }
            try {
                return busyMethod.invoke(target, others);
            } catch (InvocationTargetException e) {
                throw e.getTargetException();
            }
        }
        if (shape == Shape.STAGE) {
            return CompletableFuture.completedFuture(null);
        }
        return method.getReturnType() == Optional.class ? Optional.empty() : null;
    }

    @Override
    public String toString() {
        return describe(method);
    }
}
