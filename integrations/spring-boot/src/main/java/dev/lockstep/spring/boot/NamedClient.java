package dev.lockstep.spring.boot;

import dev.lockstep.LockClient;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartFactoryBean;

/** The bean of one of {@code lockstep.clients}. Used by one thread at a time, as Spring does. */
final class NamedClient implements SmartFactoryBean<LockClient>, DisposableBean {
    private final String name;
    private final ObjectProvider<ClientFactory> factory;
    private @Nullable LockClient client;

    NamedClient(String name, ObjectProvider<ClientFactory> factory) {
        this.name = name;
        this.factory = factory;
    }

    @Override
    public LockClient getObject() {
        LockClient made = factory.getObject().named(name);
        client = made;
        return made;
    }

    /** It connects when the application starts, as the default client does. */
    @Override
    public boolean isEagerInit() {
        return true;
    }

    @Override
    public Class<?> getObjectType() {
        return LockClient.class;
    }

    @Override
    public void destroy() {
        if (client != null) {
            client.close();
        }
    }
}
