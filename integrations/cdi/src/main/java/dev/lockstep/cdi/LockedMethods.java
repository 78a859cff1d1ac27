package dev.lockstep.cdi;

import dev.lockstep.annotation.Locked;
import jakarta.enterprise.context.ApplicationScoped;
import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The locked methods of the application, each read once. Safe for use by many threads. */
@ApplicationScoped
class LockedMethods {
    private record Key(Class<?> type, Method method) {}

    private final Map<Key, Optional<LockedMethod>> known = new ConcurrentHashMap<>();

    LockedMethods() {}

    /**
     * How a method that the container wants locked is locked; empty if it is not public and its class has the annotation.
     *
     * @throws IllegalStateException if it cannot work as it is
     */
    Optional<LockedMethod> find(Class<?> type, Method method) {
        return known.computeIfAbsent(new Key(type, method), key -> {
            Optional<LockedMethod> found = read(type, method);
            if (found.isEmpty() && !type.isAnnotationPresent(Locked.class)) { // an extension has added the annotation
                throw LockedMethod.mistake(method, "Write the annotation on the method or the class itself");
            }
            return found;
        });
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
        refuseAnnotations(type, type.getName(), "class");
        List<LockedMethod> all = new ArrayList<>();
        for (Class<?> owner = type; owner != null && owner != Object.class; owner = owner.getSuperclass()) {
            for (Method method : owner.getDeclaredMethods()) {
                if (method.isSynthetic()) {
                    continue;
                }
                refuseAnnotations(method, LockedMethod.describe(method), "method");
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

    /** As the container finds it by way of a stereotype or another binding, but not by way of any other annotation. */
    private static void refuseAnnotations(AnnotatedElement element, String name, String kind) {
        Set<Class<?>> seen = new HashSet<>();
        Deque<Annotation> open = new ArrayDeque<>(List.of(element.getAnnotations()));
        while (!open.isEmpty()) {
            Class<? extends Annotation> annotation = open.remove().annotationType();
            if (annotation != Locked.class && seen.add(annotation)) {
                if (annotation.isAnnotationPresent(Locked.class)) {
                    throw new IllegalStateException("@Locked on " + name + ": @" + annotation.getSimpleName()
                            + " has the annotation. Write it on the " + kind + " itself.");
                }
                open.addAll(List.of(annotation.getAnnotations()));
            }
        }
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
