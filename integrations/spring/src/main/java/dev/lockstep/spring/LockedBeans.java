package dev.lockstep.spring;

import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * Makes beans with locked methods dependent on their lock clients, so that a client is closed after them. An unknown client ends
 * the start. Lets transaction managers report a loss.
 */
final class LockedBeans implements BeanPostProcessor {
    private final ConfigurableListableBeanFactory beans;
    private final ObjectProvider<LockedMethods> methods;

    LockedBeans(ConfigurableListableBeanFactory beans, ObjectProvider<LockedMethods> methods) {
        this.beans = beans;
        this.methods = methods;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String name) {
        for (LockedMethod method : methods.getObject().of(AopUtils.getTargetClass(bean))) {
            Clients.require(beans, method.client(), "@Locked on " + method);
            Clients.beanNames(beans, method.client()).forEach(client -> beans.registerDependentBean(client, name));
        }
        if (Transactions.PRESENT) {
            CommitListener.addTo(bean);
        }
        return bean;
    }
}
