package dev.lockstep.spring.boot;

import dev.lockstep.LockClient;
import java.util.Map;
import java.util.Set;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.beans.factory.support.BeanDefinitionBuilder;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.EnvironmentAware;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;

/** Registers a bean for each of {@code lockstep.clients}. */
final class NamedClients implements ImportBeanDefinitionRegistrar, EnvironmentAware {
    private Environment environment;

    @SuppressWarnings("NullAway.Init") // Spring sets the environment first
    NamedClients() {}

    @Override
    public void setEnvironment(Environment environment) {
        this.environment = environment;
    }

    @Override
    public void registerBeanDefinitions(AnnotationMetadata importing, BeanDefinitionRegistry registry) {
        for (String name : names(environment)) {
            if (!registry.containsBeanDefinition(name)) {
                registry.registerBeanDefinition(
                        name,
                        BeanDefinitionBuilder.rootBeanDefinition(NamedClient.class)
                                .addConstructorArgValue(name)
                                .setAutowireMode(AbstractBeanDefinition.AUTOWIRE_CONSTRUCTOR)
                                .applyCustomizers(definition ->
                                        definition.setAttribute(FactoryBean.OBJECT_TYPE_ATTRIBUTE, LockClient.class))
                                .getBeanDefinition());
            }
        }
    }

    static Set<String> names(Environment environment) {
        return Binder.get(environment)
                .bind("lockstep.clients", Bindable.mapOf(String.class, ClientProperties.class))
                .orElse(Map.of())
                .keySet();
    }
}
