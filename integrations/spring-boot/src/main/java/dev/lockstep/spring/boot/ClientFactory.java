package dev.lockstep.spring.boot;

import dev.lockstep.Fallback;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/** Makes lock clients of their settings. Safe for use by many threads. */
final class ClientFactory {
    private static final Logger log = LoggerFactory.getLogger("dev.lockstep.spring.boot");

    private final ConfigurableListableBeanFactory beans;
    private final LockstepProperties properties;
    private final Engines engines;

    ClientFactory(ConfigurableListableBeanFactory beans, LockstepProperties properties) {
        this.beans = beans;
        this.properties = properties;
        this.engines = new Engines(beans);
    }

    LockClient ofDefault(String beanName) {
        return client(beanName, properties, engines.ofDefault(properties));
    }

    LockClient named(String beanName) {
        ClientProperties settings = properties.getClients().get(beanName);
        if (settings == null) {
            throw new NoEngineException("There are no settings lockstep.clients." + beanName + ".");
        }
        return client(beanName, settings, engines.ofNamed(beanName, settings));
    }

    private LockClient client(String beanName, ClientProperties settings, Engine engine) {
        LockClient.Builder builder = builder(settings);
        engine.choice().accept(builder);
        beans.getBeanProvider(LockListener.class).orderedStream().forEach(builder::listener);
        beans.getBeanProvider(LockClientCustomizer.class)
                .orderedStream()
                .forEach(customizer -> customizer.customize(beanName, builder));
        outlive(beanName, LockListener.class);
        outlive(beanName, LockClientCustomizer.class);
        log.info(
                "Lock client '{}': engine {}, chosen by {}; namespace '{}'.",
                beanName,
                engine.name(),
                engine.source(),
                settings.getNamespace());
        return settings.isLazyConnect() ? builder.lazyConnect().connect() : builder.connect();
    }

    /** Beans of a type, and what they need, such as an executor, end after a client. */
    private void outlive(String client, Class<?> type) {
        for (String name : beans.getBeanNamesForType(type, true, false)) {
            beans.registerDependentBean(name, client);
        }
    }

    private static LockClient.Builder builder(ClientProperties settings) {
        try {
            return build(settings);
        } catch (IllegalArgumentException e) {
            throw new LockConfigurationException(null, String.valueOf(e.getMessage()), e);
        }
    }

    private static LockClient.Builder build(ClientProperties settings) {
        LockClient.Builder builder = LockClient.builder()
                .namespace(settings.getNamespace())
                .ttl(settings.getTtl())
                .requestTimeout(settings.getRequestTimeout())
                .retryBackoff(
                        settings.getRetryBackoff().getMin(),
                        settings.getRetryBackoff().getMax())
                .fallback(fallback(settings.getFallback()))
                .deadlocks(settings.getDeadlocks())
                .recordWaitsAfter(settings.getRecordWaitsAfter());
        if (settings.getClientName() != null) {
            builder.clientName(settings.getClientName());
        }
        return builder;
    }

    static Fallback fallback(ClientProperties.FallbackProperties settings) {
        String to = settings.getTo();
        if (to == null || to.isBlank()) {
            return Fallback.failFast();
        }
        Fallback fallback = to.equalsIgnoreCase("jvm") ? Fallback.thisJvmOnly() : Fallback.to(to);
        return settings.getAfter() == null ? fallback : fallback.after(settings.getAfter());
    }
}
