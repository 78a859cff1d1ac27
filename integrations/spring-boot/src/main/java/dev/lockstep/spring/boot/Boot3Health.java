package dev.lockstep.spring.boot;

import org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.actuate.health.AbstractHealthIndicator;
import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The health indicator under Spring Boot 3. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(
        name = {
            "org.springframework.boot.actuate.health.HealthIndicator",
            "org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator"
        })
class Boot3Health {
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
