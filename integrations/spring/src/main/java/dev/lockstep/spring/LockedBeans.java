package dev.lockstep.spring;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.scheduling.TaskScheduler;

/**
 * Makes beans with locked methods dependent on their lock clients, so that a client is closed after them, and so it does with
 * executors, which may run such methods and wait for them. An unknown client ends the start. Lets transaction managers report a
 * loss.
 */
final class LockedBeans implements BeanPostProcessor, SmartInitializingSingleton {
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

    /** By now it is known what the clients need themselves. */
    @Override
    public void afterSingletonsInstantiated() {
        for (String client : Clients.beanNames(beans, "")) {
            Set<String> needed = new HashSet<>();
            addNeeded(client, needed);
            for (Class<?> type : List.of(Executor.class, TaskScheduler.class)) {
                for (String executor : beans.getBeanNamesForType(type, false, false)) {
                    if (!needed.contains(executor) && beans.containsSingleton(executor)) {
                        beans.registerDependentBean(client, executor);
                    }
                }
            }
        }
    }

    private void addNeeded(String bean, Set<String> found) {
        for (String other : beans.getDependenciesForBean(bean)) {
            if (found.add(other)) {
                addNeeded(other, found);
            }
        }
    }
}
