package dev.lockstep.spring.boot;

import dev.lockstep.LockClient;
import dev.lockstep.LockOptions;
import dev.lockstep.LockTemplate;
import dev.lockstep.spring.EnableLocks;
import dev.lockstep.spring.LockDefaults;
import dev.lockstep.spring.TransactionalLockTemplate;
import java.util.Objects;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Primary;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Configures a {@link LockClient}, a {@link LockTemplate} and {@link dev.lockstep.annotation.Locked}, unless the application has
 * beans of its own.
 */
@AutoConfiguration(
        afterName = {
            "org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration",
            "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
            "org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration",
            "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration"
        })
@ConditionalOnProperty(prefix = "lockstep", name = "enabled", matchIfMissing = true)
@EnableConfigurationProperties(LockstepProperties.class)
@EnableLocks
@Import({Boot3Redis.class, Boot4Redis.class, NamedClients.class, Elections.class})
public class LockstepAutoConfiguration {
    /** Made by Spring. */
    public LockstepAutoConfiguration() {}

    @Bean
    ClientFactory lockClientFactory(ConfigurableListableBeanFactory beans, LockstepProperties properties) {
        return new ClientFactory(beans, properties);
    }

    @Bean(destroyMethod = "close")
    @Primary
    @ConditionalOnMissingBean(LockClient.class)
    @Conditional(DefaultClientIsWanted.class)
    LockClient lockClient(ClientFactory factory) {
        return factory.ofDefault("lockClient");
    }

    @Bean
    @ConditionalOnMissingBean
    LockDefaults lockDefaults(LockstepProperties properties) {
        return new LockDefaults(properties.getWait(), properties.getTransaction());
    }

    @Bean
    @ConditionalOnMissingBean
    @ConditionalOnSingleCandidate(LockClient.class)
    LockTemplate lockTemplate(LockClient client, LockDefaults defaults) {
        return new TransactionalLockTemplate(client, LockOptions.defaults(), defaults);
    }

    /** An application that only names several clients, and no engine of its own for the default one, gets no other one. */
    static final class DefaultClientIsWanted extends SpringBootCondition {
        @Override
        public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
            boolean onlyNamed = !NamedClients.names(context.getEnvironment()).isEmpty() && !hasEngine(context);
            return new ConditionOutcome(
                    !onlyNamed,
                    ConditionMessage.forCondition("Default lock client")
                            .because(onlyNamed ? "only lockstep.clients are set" : "it may be needed"));
        }

        private static boolean hasEngine(ConditionContext context) {
            Environment environment = context.getEnvironment();
            ConfigurableListableBeanFactory beans = Objects.requireNonNull(context.getBeanFactory());
            return environment.containsProperty("lockstep.url")
                    || environment.getProperty("lockstep.jdbc.use-data-source", Boolean.class, false)
                    || beans.getBeanNamesForType(LockstepConnectionDetails.class, true, false).length > 0;
        }
    }
}
