package dev.lockstep.spring;

import java.lang.reflect.Method;
import java.util.Collection;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.support.RegisteredBean;

/**
 * The parts of beans with locked methods that a native image must keep: the properties that their keys read, and the
 * methods called if a lock is busy.
 */
final class LockedAotProcessor implements BeanRegistrationAotProcessor {
    private static final BindingReflectionHintsRegistrar PROPERTIES = new BindingReflectionHintsRegistrar();

    @Override
    public @Nullable BeanRegistrationAotContribution processAheadOfTime(RegisteredBean bean) {
        Collection<LockedMethod> methods =
                new LockedMethods(bean.getBeanFactory(), new Placeholders(null)).of(bean.getBeanClass());
        return methods.isEmpty()
                ? null
                : (context, code) -> methods.forEach(
                        method -> keep(method, context.getRuntimeHints().reflection()));
    }

    private static void keep(LockedMethod method, ReflectionHints hints) {
        for (Class<?> parameter : method.parameterTypes()) {
            if (!parameter.isPrimitive()) {
                hints.registerType(parameter, MemberCategory.INVOKE_PUBLIC_METHODS);
                PROPERTIES.registerReflectionHints(hints, parameter); // and of properties, as in #order.customer.name
            }
        }
        Method instead = method.busyMethod();
        if (instead != null) {
            hints.registerMethod(instead, ExecutableMode.INVOKE);
        }
    }
}
