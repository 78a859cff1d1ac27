package dev.lockstep.spring.boot;

import dev.lockstep.LockClient;

/** Changes what properties cannot say, before a client connects. Beans of this type are called in their order. */
@FunctionalInterface
public interface LockClientCustomizer {
    /**
     * Changes a client's configuration.
     *
     * @param beanName the client's bean name; {@code lockClient} unless it is one of {@code lockstep.clients}
     * @param builder its configuration
     */
    void customize(String beanName, LockClient.Builder builder);
}
