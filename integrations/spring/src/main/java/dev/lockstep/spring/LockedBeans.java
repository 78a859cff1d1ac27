package dev.lockstep.spring;

import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/** Makes beans with locked methods dependent on their lock clients, so that a client is closed after them. */
final class LockedBeans implements BeanPostProcessor {
    private final ConfigurableListableBeanFactory beans;
    private final ObjectProvider<LockedMethods> methods;

    LockedBeans(ConfigurableListableBeanFactory beans, ObjectProvider<LockedMethods> methods) {
        this.beans = beans;
        this.methods = methods;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String name) {
        methods.getObject()
                .of(AopUtils.getTargetClass(bean))
                .forEach(method -> Clients.beanNames(beans, method.client())
                        .forEach(client -> beans.registerDependentBean(client, name)));
        return bean;
    }
}
