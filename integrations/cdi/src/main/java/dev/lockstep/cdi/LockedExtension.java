package dev.lockstep.cdi;

import dev.lockstep.LockClient;
import dev.lockstep.annotation.Locked;
import jakarta.enterprise.context.Dependent;
import jakarta.enterprise.inject.build.compatible.spi.BeanInfo;
import jakarta.enterprise.inject.build.compatible.spi.BuildCompatibleExtension;
import jakarta.enterprise.inject.build.compatible.spi.Discovery;
import jakarta.enterprise.inject.build.compatible.spi.Messages;
import jakarta.enterprise.inject.build.compatible.spi.MetaAnnotations;
import jakarta.enterprise.inject.build.compatible.spi.Registration;
import jakarta.enterprise.inject.build.compatible.spi.ScannedClasses;
import jakarta.enterprise.inject.build.compatible.spi.Validation;
import jakarta.enterprise.util.Nonbinding;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * Makes {@link Locked} work in a CDI container: registers it as an interceptor binding, with its interceptor, and refuses at
 * deployment what would fail at the first call. Found by the container; not used by applications.
 *
 * <p>Used by one thread, as the container does.
 */
public final class LockedExtension implements BuildCompatibleExtension {
    /** The names of the beans of type {@link LockClient}; empty for one without a name. */
    private final List<String> clients = new ArrayList<>();

    /** A method that needs a client, for each name of a client; empty for the default client. */
    private final Map<String, LockedMethod> users = new HashMap<>();

    /** Makes the extension, for the container. */
    public LockedExtension() {}

    /**
     * Adds the annotation and what runs it.
     *
     * @param classes gets the interceptor
     * @param annotations gets the interceptor binding
     */
    @Discovery
    public void add(ScannedClasses classes, MetaAnnotations annotations) {
        classes.add(LockedInterceptor.class.getName());
        classes.add(LockedMethods.class.getName());
        annotations
                .addInterceptorBinding(Locked.class)
                .methods()
                .forEach(member -> member.addAnnotation(Nonbinding.class));
    }

    /**
     * Notes a client that the application has.
     *
     * @param bean a bean of that type
     * @param messages gets an error if each user of the bean would have a client of its own
     */
    @Registration(types = LockClient.class)
    public void noteClient(BeanInfo bean, Messages messages) {
        clients.add(bean.name() == null ? "" : bean.name());
        if (bean.scope().name().equals(Dependent.class.getName())) {
            messages.error(
                    "A LockClient is @Dependent, so each user would get its own. Make it @ApplicationScoped, and close"
                            + " it in a disposer.",
                    bean);
        }
    }

    /**
     * Checks each use of the annotation in a bean.
     *
     * @param bean any bean
     * @param messages gets the mistakes
     */
    @Registration(types = Object.class)
    public void check(BeanInfo bean, Messages messages) {
        if (!bean.isClassBean()) {
            return;
        }
        Class<?> type;
        try {
            type = Class.forName(
                    bean.declaringClass().name(), false, Thread.currentThread().getContextClassLoader());
        } catch (ClassNotFoundException e) {
            return; // checked at the first call instead
        }
        try {
            LockedMethods.all(type).forEach(method -> users.putIfAbsent(method.client(), method));
        } catch (IllegalStateException e) {
            messages.error(String.valueOf(e.getMessage()), bean);
        }
    }

    /**
     * Checks that the clients that are asked for exist.
     *
     * @param messages gets the mistakes
     */
    @Validation
    public void checkClients(Messages messages) {
        users.forEach((client, method) -> {
            if (clients.isEmpty()) {
                messages.error("@Locked on " + method + ": there is no bean of type LockClient. Produce one.");
            } else if (!client.isEmpty() && !clients.contains(client)) {
                messages.error("@Locked on " + method + ": there is no LockClient with @Named(\"" + client
                        + "\"). Names of clients: " + new TreeSet<>(clients) + ".");
            }
        });
    }
}
