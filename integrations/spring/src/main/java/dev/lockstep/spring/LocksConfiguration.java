package dev.lockstep.spring;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;

/** The beans behind {@link EnableLocks}. */
@Configuration(proxyBeanMethods = false)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
public class LocksConfiguration {
    /** Made by Spring. */
    public LocksConfiguration() {}

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static LockedMethods lockedMethods(ConfigurableListableBeanFactory beans) {
        return new LockedMethods(beans, Placeholders.of(beans));
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static LockedInterceptor lockedInterceptor(
            ConfigurableListableBeanFactory beans, LockedMethods methods, ObjectProvider<LockDefaults> defaults) {
        return new LockedInterceptor(beans, methods, defaults);
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static LockedAdvisor lockedAdvisor(
            ConfigurableListableBeanFactory beans, LockedMethods methods, LockedInterceptor interceptor) {
        return new LockedAdvisor(beans, methods, interceptor);
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static LockedBeans lockedBeans(ConfigurableListableBeanFactory beans, ObjectProvider<LockedMethods> methods) {
        return new LockedBeans(beans, methods);
    }
}
