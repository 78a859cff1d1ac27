package dev.lockstep.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.context.annotation.AutoProxyRegistrar;
import org.springframework.context.annotation.Import;

/**
 * Switches on {@link dev.lockstep.annotation.Locked} for the beans of an application context, on a {@code @Configuration} class.
 * The context has a bean of type {@link dev.lockstep.LockClient}, and may have one of type {@link LockDefaults}. Spring Boot
 * applications with {@code lockstep-spring-boot-starter} do not need it.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
@Import({AutoProxyRegistrar.class, LocksConfiguration.class})
public @interface EnableLocks {
    /**
     * Whether proxies extend the bean's class even if it has interfaces.
     *
     * @return true for proxies of classes
     */
    boolean proxyTargetClass() default false;

    /**
     * How advice is applied. Only proxies are supported.
     *
     * @return {@link AdviceMode#PROXY}
     */
    AdviceMode mode() default AdviceMode.PROXY;
}
