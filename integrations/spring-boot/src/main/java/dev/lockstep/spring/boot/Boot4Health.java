package dev.lockstep.spring.boot;

import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The health indicator under Spring Boot 4. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(
        name = {
            "org.springframework.boot.health.contributor.HealthIndicator",
            "org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator"
        })
class Boot4Health {
    @Bean
    @ConditionalOnMissingBean(name = "locksHealthIndicator")
    @ConditionalOnEnabledHealthIndicator("locks")
    HealthIndicator locksHealthIndicator(LockHealth health) {
        return new AbstractHealthIndicator("The lock engine could not be asked") {
            @Override
            protected void doHealthCheck(Health.Builder builder) {
                LockHealth.Report report = health.check();
                builder.status(report.status()).withDetails(report.details());
            }
        };
    }
}
