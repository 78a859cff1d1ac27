package dev.lockstep.cdi;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockOptions;
import dev.lockstep.LockTemplate;
import dev.lockstep.annotation.Locked;
import dev.lockstep.annotation.LockedDurations;
import java.lang.reflect.Array;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** One method and how it is locked, checked and ready for calls. Immutable, safe for use by many threads. */
final class LockedMethod {
    private static final Duration USUAL_WAIT = Duration.ofSeconds(1);
    private static final Set<String> REACTIVE =
            Set.of("org.reactivestreams.Publisher", "io.smallrye.mutiny.Uni", "io.smallrye.mutiny.Multi");

    private final Locked locked;
    private final Method method;
    private final List<KeyPath> keys = new ArrayList<>();
    private final LockOptions options;
    private final Duration wait;
    private final boolean asynchronous;
    private final int leaseIndex;
    private final @Nullable Method busyMethod;

    /**
     * Reads and checks an annotation.
     *
     * @throws IllegalStateException if it cannot work as it is
     */
    LockedMethod(Locked locked, Method method, Class<?> type) {
        this.locked = locked;
        this.method = method;
        refusePlaceholders();
        if (locked.name().isBlank()) {
            throw mistake(method, "the name is empty");
        }
        for (String key : locked.key()) {
            try {
                keys.add(new KeyPath(key, method));
            } catch (IllegalArgumentException e) {
                throw mistake(method, "the key '" + key + "' " + e.getMessage());
            }
        }
        if (locked.mode() == Locked.Mode.READ && keys.size() > 1) {
            throw mistake(method, "several keys can only be locked together with mode = WRITE");
        }
        this.options = options();
        this.asynchronous = isAsynchronous();
        List<Class<?>> parameters = Arrays.asList(method.getParameterTypes());
        this.leaseIndex = parameters.indexOf(Lease.class);
        this.busyMethod = locked.busyMethod().isEmpty() ? null : busyMethod(type, parameters);
        Duration chosen = duration("waitAtMost", locked.waitAtMost());
        this.wait = chosen != null ? chosen : isSkipped() && busyMethod == null ? Duration.ZERO : USUAL_WAIT;
        Class<?> result = method.getReturnType();
        if (busyMethod == null && isSkipped() && result.isPrimitive() && result != void.class) {
            throw mistake(
                    method,
                    "onBusy = SKIP has no result for a method that returns " + result
                            + ". Return an Optional or void, or name a busyMethod");
        }
    }

    private void refusePlaceholders() {
        Stream<String> texts = Stream.concat(
                Stream.of(locked.name(), locked.waitAtMost(), locked.maxHold(), locked.minHold(), locked.client()),
                Stream.of(locked.key()));
        texts.filter(text -> text.contains("${")).findFirst().ifPresent(text -> {
            throw mistake(
                    method, "the placeholder in '" + text + "' is not supported under CDI. Write the value itself");
        });
    }

    private LockOptions options() {
        LockOptions chosen = LockOptions.defaults().group(locked.name());
        Duration maxHold = positive("maxHold", locked.maxHold());
        Duration minHold = positive("minHold", locked.minHold());
        try {
            chosen = maxHold == null ? chosen : chosen.maxHold(maxHold);
            chosen = minHold == null ? chosen : chosen.minHold(minHold);
        } catch (IllegalArgumentException | LockConfigurationException e) {
            throw mistake(method, String.valueOf(e.getMessage()));
        }
        return locked.fair() ? chosen.fair() : chosen;
    }

    private @Nullable Duration positive(String attribute, String text) {
        Duration chosen = duration(attribute, text);
        if (chosen != null && (chosen.isZero() || chosen.isNegative())) {
            throw mistake(method, attribute + " must be positive");
        }
        return chosen;
    }

    private @Nullable Duration duration(String attribute, String text) {
        try {
            return text.isBlank() ? null : LockedDurations.parse(text);
        } catch (IllegalArgumentException e) {
            throw mistake(method, attribute + ": " + e.getMessage());
        }
    }

    private boolean isAsynchronous() {
        Class<?> result = method.getReturnType();
        if (Future.class.isAssignableFrom(result) || CompletionStage.class.isAssignableFrom(result)) {
            if (result != CompletionStage.class && result != CompletableFuture.class) {
                throw mistake(
                        method,
                        "nobody can see when a " + result.getSimpleName()
                                + " is done. Return a CompletionStage or a CompletableFuture");
            }
            return true;
        }
        if (Flow.Publisher.class.isAssignableFrom(result) || isReactive(result)) {
            throw mistake(
                    method,
                    "a " + result.getSimpleName() + " is not supported under CDI: the lock would be released before"
                            + " its work begins. Return a CompletionStage");
        }
        return false;
    }

    private static boolean isReactive(@Nullable Class<?> type) {
        return type != null
                && (REACTIVE.contains(type.getName())
                        || isReactive(type.getSuperclass())
                        || Arrays.stream(type.getInterfaces()).anyMatch(LockedMethod::isReactive));
    }

    private Method busyMethod(Class<?> type, List<Class<?>> parameters) {
        Class<?>[] wanted = parameters.stream()
                .filter(parameter -> parameter != Lease.class)
                .toArray(Class<?>[]::new);
        for (Class<?> owner = type; owner != null; owner = owner.getSuperclass()) {
            try {
                Method found = owner.getDeclaredMethod(locked.busyMethod(), wanted);
                if (method.getReturnType().isAssignableFrom(found.getReturnType())) {
                    found.trySetAccessible();
                    return found;
                }
            } catch (NoSuchMethodException e) {
                continue; // perhaps in the superclass
            }
        }
        throw mistake(
                method,
                "there is no busyMethod " + method.getReturnType().getSimpleName() + " " + locked.busyMethod()
                        + parameters(wanted) + " in " + type.getName());
    }

    static IllegalStateException mistake(Method method, String what) {
        return new IllegalStateException("@Locked on " + describe(method) + ": " + what + ".");
    }

    static String describe(Method method) {
        return method.getDeclaringClass().getName() + "." + method.getName() + parameters(method.getParameterTypes());
    }

    private static String parameters(Class<?>[] types) {
        return Arrays.stream(types).map(Class::getSimpleName).collect(Collectors.joining(", ", "(", ")"));
    }

    /** The name of the client; empty for the default one. */
    String client() {
        return locked.client();
    }

    boolean isAsynchronousMethod() {
        return asynchronous;
    }

    /** Acquires the lock, runs and releases as this method wants it. */
    LockTemplate template(LockClient from) {
        LockTemplate template = from.template(options).waitAtMost(wait);
        return locked.fenced() ? template.fenced() : template;
    }

    /** The lock of a call. */
    DistributedLock lock(LockClient from, @Nullable Object[] arguments) {
        List<String> names = names(arguments);
        if (locked.mode() == Locked.Mode.READ) {
            return from.readWriteLock(names.get(0), options).readLock();
        }
        return names.size() == 1 ? from.lock(names.get(0), options) : from.multiLock(names, options);
    }

    private List<String> names(@Nullable Object[] arguments) {
        if (keys.isEmpty()) {
            return List.of(locked.name());
        }
        Set<String> names = new LinkedHashSet<>();
        for (KeyPath key : keys) {
            Object value = value(key, arguments);
            if (value instanceof Collection<?> several) {
                several.forEach(one -> names.add(name(key, one)));
            } else if (value != null && value.getClass().isArray()) {
                for (int i = 0; i < Array.getLength(value); i++) {
                    names.add(name(key, Array.get(value, i)));
                }
            } else {
                names.add(name(key, value));
            }
        }
        if (names.isEmpty()) {
            throw unusable(keys.get(0), "is empty", null);
        }
        if (locked.mode() == Locked.Mode.READ && names.size() > 1) {
            throw unusable(keys.get(0), "has several values; with mode = READ there can be only one", null);
        }
        return List.copyOf(names);
    }

    private @Nullable Object value(KeyPath key, @Nullable Object[] arguments) {
        try {
            return key.value(arguments);
        } catch (ReflectiveOperationException | RuntimeException e) {
            throw unusable(key, "has no value: " + e, e);
        }
    }

    private String name(KeyPath key, @Nullable Object value) {
        String text = value == null ? "" : value.toString();
        if (text.isEmpty()) {
            throw unusable(key, value == null ? "is null" : "is empty", null);
        }
        if (value != null && isIdentity(text, value)) {
            throw unusable(
                    key,
                    "is a " + value.getClass().getName()
                            + ", whose text differs in each process since it has no toString(). Use one of its"
                            + " properties as the key",
                    null);
        }
        return locked.name() + ":" + text;
    }

    /** Whether it is the text that every object has unless its class says otherwise. */
    private static boolean isIdentity(String text, Object value) {
        return text.equals(value.getClass().getName() + "@" + Integer.toHexString(value.hashCode()));
    }

    private LockConfigurationException unusable(KeyPath key, String why, @Nullable Exception cause) {
        return new LockConfigurationException(
                locked.name(),
                "@Locked on " + this + ": the key '" + key + "' " + why + ". The method did not run.",
                cause);
    }

    /** Whether the method declares {@code InterruptedException}, for a caller that is interrupted while it waits. */
    boolean throwsInterrupted() {
        return Arrays.stream(method.getExceptionTypes())
                .anyMatch(type -> type.isAssignableFrom(InterruptedException.class));
    }

    private boolean isSkipped() {
        return locked.onBusy() == Locked.OnBusy.SKIP;
    }

    /** The arguments of a call, with the lease among them if the method wants it. */
    @Nullable
    Object[] withLease(@Nullable Object[] arguments, Lease lease) {
        if (leaseIndex >= 0) {
            arguments[leaseIndex] = lease;
        }
        return arguments;
    }

    /** Whether a call that finds the lock busy throws. */
    boolean throwsIfBusy() {
        return busyMethod == null && !isSkipped();
    }

    /** The result of a call that finds the lock busy. */
    @Nullable
    Object busyResult(Object target, @Nullable Object[] arguments) throws Exception {
        if (busyMethod != null) {
            List<@Nullable Object> others = new ArrayList<>(Arrays.asList(arguments));
            if (leaseIndex >= 0) {
                others.remove(leaseIndex);
            }
            try {
                return busyMethod.invoke(target, others.toArray());
            } catch (InvocationTargetException e) {
                if (e.getCause() instanceof Error error) {
                    throw error;
                }
                throw e.getCause() instanceof Exception thrown ? thrown : e;
            }
        }
        if (asynchronous) {
            return CompletableFuture.completedFuture(null);
        }
        Class<?> result = method.getReturnType();
        return result == Optional.class ? Optional.empty() : result == Stream.class ? Stream.empty() : null;
    }

    @Override
    public String toString() {
        return describe(method);
    }
}
