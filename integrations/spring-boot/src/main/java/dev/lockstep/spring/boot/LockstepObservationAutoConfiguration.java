package dev.lockstep.spring.boot;

import dev.lockstep.LockTemplate;
import dev.lockstep.micrometer.LockGrouping;
import dev.lockstep.micrometer.LockObservations;
import io.micrometer.observation.ObservationRegistry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.util.ClassUtils;

/** Observes {@code @Locked} and the template, for traces, if the application has an {@link ObservationRegistry}. */
@AutoConfiguration(
        after = LockstepAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.actuate.autoconfigure.observation.ObservationAutoConfiguration",
            "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration"
        })
@ConditionalOnClass({LockObservations.class, ObservationRegistry.class})
@ConditionalOnBean({ObservationRegistry.class, ClientFactory.class})
@ConditionalOnProperty(name = "management.observations.enable.lockstep", matchIfMissing = true)
public class LockstepObservationAutoConfiguration {
    static final String TRACER = "io.micrometer.tracing.Tracer";

    private static final boolean TRACING =
            ClassUtils.isPresent(TRACER, LockstepObservationAutoConfiguration.class.getClassLoader());

    /** Made by Spring. */
    public LockstepObservationAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean
    LockObservations lockObservations(ObservationRegistry registry, ObjectProvider<LockGrouping> grouping) {
        LockGrouping by = grouping.getIfUnique();
        LockObservations observations =
                TRACING ? new LockObservations(registry) : new LockObservations(registry).withoutHolders();
        return by == null ? observations : observations.groups(by);
    }

    @Bean
    @ConditionalOnMissingBean(name = "lockObservationsCustomizer")
    LockClientCustomizer lockObservationsCustomizer(LockObservations observations) {
        return (beanName, builder) -> builder.observer(observations.observer(beanName));
    }

    @Bean
    static BeanPostProcessor observedLockTemplate(ObjectProvider<LockObservations> observations) {
        return new BeanPostProcessor() {
            @Override
            public Object postProcessAfterInitialization(Object bean, String name) {
                return bean instanceof LockTemplate template && name.equals("lockTemplate")
                        ? observations.getObject().observe(template)
                        : bean;
            }
        };
    }
}
