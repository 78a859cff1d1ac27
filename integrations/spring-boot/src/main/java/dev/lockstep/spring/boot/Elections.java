package dev.lockstep.spring.boot;

import dev.lockstep.spring.LeaderCandidate;
import java.util.List;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.beans.factory.support.BeanDefinitionBuilder;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.EnvironmentAware;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;

/** Registers a candidate for each of {@code lockstep.elections}, as a bean of the name {@code …LeaderCandidate}. */
final class Elections implements ImportBeanDefinitionRegistrar, EnvironmentAware {
    private Environment environment;

    @SuppressWarnings("NullAway.Init") // Spring sets the environment first
    Elections() {}

    @Override
    public void setEnvironment(Environment environment) {
        this.environment = environment;
    }

    @Override
    public void registerBeanDefinitions(AnnotationMetadata importing, BeanDefinitionRegistry registry) {
        List<String> elections = Binder.get(environment)
                .bind("lockstep.elections", Bindable.listOf(String.class))
                .orElse(List.of());
        for (String election : elections) {
            AbstractBeanDefinition candidate = BeanDefinitionBuilder.rootBeanDefinition(LeaderCandidate.class)
                    .setAutowireMode(AbstractBeanDefinition.AUTOWIRE_CONSTRUCTOR)
                    .getBeanDefinition();
            candidate.getConstructorArgumentValues().addIndexedArgumentValue(1, election); // the others are beans
            registry.registerBeanDefinition(election + "LeaderCandidate", candidate);
        }
    }
}
