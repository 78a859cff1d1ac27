package dev.lockstep.torture;

import dev.lockstep.DistributedLock;
import dev.lockstep.DistributedReadWriteLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Optional;

/** A client whose leases forget the listener to notify of their loss, unless they come by a future. */
final class DeafClient {
    private static final List<Class<?>> WRAPPED =
            List.of(LockClient.class, DistributedReadWriteLock.class, DistributedLock.class, Lease.class);

    private DeafClient() {}

    static LockClient of(LockClient client) {
        return (LockClient) wrap(client);
    }

    /** Wraps what leads to leases, and leases; everything else stays what it is. */
    private static Object wrap(Object target) {
        if (target instanceof Optional<?> maybe) {
            return maybe.map(DeafClient::wrap);
        }
        return WRAPPED.stream()
                .filter(type -> type.isInstance(target))
                .findFirst()
                .map(type -> wrap(target, type))
                .orElse(target);
    }

    private static Object wrap(Object target, Class<?> type) {
        return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
            if (method.getName().equals("onLost")) {
                return null;
            }
            try {
                Object result = method.invoke(target, arguments);
                return result == null ? null : wrap(result);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        });
    }
}
