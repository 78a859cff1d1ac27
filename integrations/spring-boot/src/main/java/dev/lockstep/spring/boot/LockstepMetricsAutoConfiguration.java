package dev.lockstep.spring.boot;

import dev.lockstep.micrometer.LockGrouping;
import dev.lockstep.micrometer.LockMetrics;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** Publishes the locks of each client as meters, if the application has a {@link MeterRegistry}. */
@AutoConfiguration(
        after = LockstepAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration"
        })
@ConditionalOnClass({LockMetrics.class, MeterRegistry.class})
@ConditionalOnBean({MeterRegistry.class, ClientFactory.class})
public class LockstepMetricsAutoConfiguration {
    /** Made by Spring. */
    public LockstepMetricsAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean(name = "lockMetrics")
    LockClientCustomizer lockMetrics(MeterRegistry registry, ObjectProvider<LockGrouping> grouping) {
        return (beanName, builder) -> {
            LockMetrics metrics = new LockMetrics(registry).client(beanName);
            LockGrouping by = grouping.getIfUnique();
            builder.observer(by == null ? metrics : metrics.groups(by));
        };
    }
}
