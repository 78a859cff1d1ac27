package dev.lockstep.cdi;

import dev.lockstep.annotation.Locked;
import jakarta.enterprise.context.ApplicationScoped;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** The locked methods of the application, each read once. Safe for use by many threads. */
@ApplicationScoped
class LockedMethods {
    private record Key(Class<?> type, Method method) {}

    private final Map<Key, Optional<LockedMethod>> known = new ConcurrentHashMap<>();

    LockedMethods() {}

    /** How a method is locked; empty if it is not. */
    Optional<LockedMethod> find(Class<?> type, Method method) {
        return known.computeIfAbsent(new Key(type, method), key -> read(type, method));
    }

    private static Optional<LockedMethod> read(Class<?> type, Method method) {
        Locked own = method.getAnnotation(Locked.class);
        if (own != null) {
            return Optional.of(new LockedMethod(own, method, type));
        }
        Locked ofType = type.getAnnotation(Locked.class);
        return ofType == null || !Modifier.isPublic(method.getModifiers())
                ? Optional.empty()
                : Optional.of(new LockedMethod(ofType, method, type));
    }

    /**
     * The locked methods of a bean.
     *
     * @throws IllegalStateException if one cannot work as it is
     */
    static List<LockedMethod> all(Class<?> type) {
        refuseInterfaces(type, type);
        List<LockedMethod> all = new ArrayList<>();
        for (Class<?> owner = type; owner != null && owner != Object.class; owner = owner.getSuperclass()) {
            for (Method method : owner.getDeclaredMethods()) {
                if (method.isSynthetic()) {
                    continue;
                }
                if (method.isAnnotationPresent(Locked.class)
                        && (method.getModifiers() & (Modifier.PRIVATE | Modifier.STATIC | Modifier.FINAL)) != 0) {
                    throw LockedMethod.mistake(
                            method, "the container cannot intercept a private, static or final method");
                }
                if ((method.getModifiers() & (Modifier.PRIVATE | Modifier.STATIC | Modifier.FINAL)) == 0) {
                    read(type, method).ifPresent(all::add);
                }
            }
        }
        return all;
    }

    /** CDI does not look at the annotations of interfaces, so the method would run without its lock. */
    private static void refuseInterfaces(Class<?> type, Class<?> part) {
        for (Class<?> each = part; each != null; each = each.getSuperclass()) {
            for (Class<?> implemented : each.getInterfaces()) {
                if (implemented.isAnnotationPresent(Locked.class)) {
                    throw new IllegalStateException("@Locked on " + implemented.getName()
                            + ": CDI ignores annotations of interfaces. Annotate " + type.getName() + ".");
                }
                for (Method method : implemented.getDeclaredMethods()) {
                    if (method.isAnnotationPresent(Locked.class)) {
                        throw LockedMethod.mistake(
                                method,
                                "CDI ignores annotations of interfaces. Annotate the method of " + type.getName());
                    }
                }
                refuseInterfaces(type, implemented);
            }
        }
    }
}
