package dev.lockstep.spring;

import dev.lockstep.annotation.Locked;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ClassFilter;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * The {@link Locked} methods of classes. A class is looked at as a whole, before its bean is ready, so that a mistake in any of
 * its methods ends the start of the application. Safe for use by many threads.
 */
final class LockedMethods extends StaticMethodMatcherPointcut {
    private final ConfigurableListableBeanFactory beans;
    private final Placeholders placeholders;
    private final Map<Class<?>, Map<Method, LockedMethod>> known = new ConcurrentHashMap<>();

    LockedMethods(ConfigurableListableBeanFactory beans, Placeholders placeholders) {
        this.beans = beans;
        this.placeholders = placeholders;
        setClassFilter(new ClassFilter() {
            @Override
            public boolean matches(Class<?> type) {
                return !of(type).isEmpty();
            }
        });
    }

    @Override
    public boolean matches(Method method, Class<?> type) {
        return find(method, type) != null;
    }

    /** The locked methods of a class. */
    Collection<LockedMethod> of(Class<?> type) {
        return scan(type).values();
    }

    /** How a method is locked; null if it is not. */
    @Nullable
    LockedMethod find(Method method, Class<?> type) {
        Map<Method, LockedMethod> methods = scan(type);
        LockedMethod found = methods.get(method);
        return found != null || methods.isEmpty()
                ? found
                : methods.get(AopUtils.getMostSpecificMethod(method, ClassUtils.getUserClass(type)));
    }

    private Map<Method, LockedMethod> scan(Class<?> type) {
        Class<?> user = ClassUtils.getUserClass(type);
        Map<Method, LockedMethod> methods = known.get(user);
        if (methods == null) {
            methods = AnnotationUtils.isCandidateClass(user, Locked.class)
                    ? MethodIntrospector.selectMethods(
                            user, (MethodIntrospector.MetadataLookup<LockedMethod>) method -> read(method, user))
                    : Map.of();
            SelfCalls.refuse(user, methods);
            known.put(user, methods.isEmpty() ? Map.of() : methods);
        }
        return methods;
    }

    private @Nullable LockedMethod read(Method method, Class<?> type) {
        Locked locked = AnnotatedElementUtils.findMergedAnnotation(method, Locked.class);
        if (locked == null && isCoveredByItsClass(method)) {
            locked = AnnotatedElementUtils.findMergedAnnotation(type, Locked.class);
            if (locked == null) {
                locked = AnnotatedElementUtils.findMergedAnnotation(method.getDeclaringClass(), Locked.class);
            }
        }
        if (locked == null) {
            return null;
        }
        requireProxy(method);
        return new LockedMethod(locked, method, type, beans, placeholders);
    }

    private static boolean isCoveredByItsClass(Method method) {
        return Modifier.isPublic(method.getModifiers())
                && !Modifier.isStatic(method.getModifiers())
                && !method.isSynthetic()
                && !ReflectionUtils.isObjectMethod(method);
    }

    /** Spring's proxies do not see such calls, so the method would run without its lock. */
    private static void requireProxy(Method method) {
        int modifiers = method.getModifiers();
        String obstacle = null;
        if (Modifier.isPrivate(modifiers)) {
            obstacle = "private";
        } else if (Modifier.isStatic(modifiers)) {
            obstacle = "static";
        } else if (Modifier.isFinal(modifiers) && !Proxy.isProxyClass(method.getDeclaringClass())) {
            obstacle = "final";
        }
        if (obstacle != null) {
            throw new IllegalStateException("@Locked has no effect on " + LockedMethod.describe(method)
                    + ", because it is " + obstacle + ". Make it a public method that is neither static nor final.");
        }
    }
}
