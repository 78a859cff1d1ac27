package dev.lockstep.spring.boot;

import dev.lockstep.LockClient;
import dev.lockstep.console.Console;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;

/** Configures the endpoint {@code lockconsole}, if {@code lockstep-console} and the actuator are present and the endpoint is exposed. */
@AutoConfiguration(after = LockstepAutoConfiguration.class)
@ConditionalOnClass(
        name = {
            "dev.lockstep.console.Console",
            "org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint",
            "org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint"
        })
@ConditionalOnSingleCandidate(LockClient.class)
@ConditionalOnBean(ClientFactory.class)
public class LockstepConsoleAutoConfiguration {
    /** Made by Spring. */
    public LockstepConsoleAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean
    @ConditionalOnAvailableEndpoint(endpoint = LockConsoleEndpoint.class)
    LockConsoleEndpoint lockConsoleEndpoint(Console console, LockstepProperties properties) {
        return properties.getConsole().isAllowRelease()
                ? new LockConsoleEndpoint.WithRelease(console)
                : new LockConsoleEndpoint(console);
    }

    @Bean
    @ConditionalOnMissingBean
    @ConditionalOnAvailableEndpoint(endpoint = LockConsoleEndpoint.class)
    Console lockConsole(LockClient client, LockstepProperties properties) {
        Console.Builder builder = Console.builder(client).namespace(properties.getNamespace());
        return properties.getConsole().isAllowRelease() ? builder.allowRelease().mount() : builder.mount();
    }
}
