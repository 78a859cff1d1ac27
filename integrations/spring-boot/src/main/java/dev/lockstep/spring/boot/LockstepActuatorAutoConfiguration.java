package dev.lockstep.spring.boot;

import dev.lockstep.EngineInfo;
import dev.lockstep.LockClient;
import java.util.LinkedHashMap;
import java.util.Map;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.info.InfoContributor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** Configures health, the endpoint {@code locks} and info, if the application has Spring Boot's actuator. */
@AutoConfiguration(after = LockstepAutoConfiguration.class)
@ConditionalOnClass(name = "org.springframework.boot.actuate.endpoint.annotation.Endpoint")
@ConditionalOnBean({LockClient.class, ClientFactory.class})
@Import({Boot3Health.class, Boot4Health.class})
public class LockstepActuatorAutoConfiguration {
    /** Made by Spring. */
    public LockstepActuatorAutoConfiguration() {}

    @Bean
    EngineQuestions lockEngineQuestions(Map<String, LockClient> clients, LockstepProperties properties) {
        return new EngineQuestions(clients, properties.getHealth().getTimeout());
    }

    @Bean
    LockHealth lockHealth(Map<String, LockClient> clients, EngineQuestions questions, LockstepProperties properties) {
        return new LockHealth(clients, questions, properties.getHealth());
    }

    /** The endpoint, if it is enabled and exposed. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(
            name = "org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint")
    static class EndpointConfiguration {
        @Bean
        @ConditionalOnMissingBean
        @ConditionalOnAvailableEndpoint(endpoint = LocksEndpoint.class)
        LocksEndpoint locksEndpoint(Map<String, LockClient> clients, LockstepProperties properties) {
            return properties.getEndpoint().isForceRelease()
                    ? new LocksEndpoint.WithRelease(clients)
                    : new LocksEndpoint(clients);
        }
    }

    /** The engines, under {@code locks} of the endpoint {@code info}. */
    @Bean
    @ConditionalOnProperty(name = "management.info.locks.enabled", matchIfMissing = true)
    InfoContributor locksInfoContributor(EngineQuestions questions) {
        return builder -> {
            Map<String, Object> engines = new LinkedHashMap<>();
            questions.ask().forEach((name, answer) -> engines.put(name, engine(answer)));
            builder.withDetail("locks", engines);
        };
    }

    private static Object engine(EngineQuestions.Answer answer) {
        EngineInfo info = answer.info();
        return info == null
                ? Map.of("error", answer.error())
                : Map.of(
                        "engine",
                        info.product(),
                        "version",
                        info.version(),
                        "guarantees",
                        info.guarantees(),
                        "limits",
                        info.limits());
    }
}
