package dev.lockstep.redis.internal;

import dev.lockstep.LockConfigurationException;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Field;
import java.lang.reflect.InaccessibleObjectException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.Socket;
import java.util.List;
import java.util.Properties;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.providers.ClusterConnectionProvider;
import redis.clients.jedis.providers.PooledConnectionProvider;
import redis.clients.jedis.providers.SentineledConnectionProvider;
import redis.clients.jedis.util.Pool;

/**
 * Access to the parts of Jedis that Lockstep needs beyond the public API that versions 6, 7 and 8 share. Everything
 * else in this package uses only that API, so that it runs with whatever version an application has: Spring Boot 3.5
 * brings Jedis 6.0, Boot 4.0 brings 7.0, Boot 4.1 brings 7.4. The members here have the same names in all of them;
 * {@code JedisVersionsTest} checks it.
 */
public final class JedisAccess {
    private static final Member<Field> PROVIDER = open(() -> UnifiedJedis.class.getDeclaredField("provider"));
    private static final Member<Field> SENTINEL_POOL =
            open(() -> SentineledConnectionProvider.class.getDeclaredField("pool"));
    private static final Member<Field> SOCKET = open(() -> Connection.class.getDeclaredField("socket"));
    private static final Member<Method> ADDRESS = open(() -> Connection.class.getDeclaredMethod("getHostAndPort"));

    private interface Lookup<T> {
        T find() throws ReflectiveOperationException;
    }

    /**
     * The members that were looked up when this class was loaded, or the reason why one is missing, which is thrown
     * when it is needed.
     */
    private record Member<T>(@Nullable T found, @Nullable Exception failure) {
        T get() {
            if (found == null) {
                throw unsupported(failure);
            }
            return found;
        }
    }

    private JedisAccess() {}

    private static <T extends AccessibleObject> Member<T> open(Lookup<T> lookup) {
        try {
            T member = lookup.find();
            member.setAccessible(true);
            return new Member<>(member, null);
        } catch (ReflectiveOperationException | InaccessibleObjectException e) {
            return new Member<>(null, e);
        }
    }

    private static LockConfigurationException unsupported(@Nullable Exception cause) {
        return new LockConfigurationException(
                null,
                "lockstep-redis does not work with this version of Jedis (" + version()
                        + "). Use one of the versions 6.0 to 8.0.",
                cause);
    }

    /** Jedis' manifest does not say it. */
    private static String version() {
        Properties known = new Properties();
        try (InputStream in = UnifiedJedis.class.getResourceAsStream("pom.properties")) {
            if (in != null) {
                known.load(in);
            }
        } catch (IOException e) {
            // The message goes without it.
        }
        return known.getProperty("version", "unknown");
    }

    /** Makes sure, before anything connects, that this version of Jedis has all that is needed. */
    public static void requireMembers() {
        List.of(PROVIDER, SENTINEL_POOL, SOCKET, ADDRESS).forEach(Member::get);
    }

    /**
     * The way that a Jedis client takes to its servers.
     *
     * @param name stands for the address of a single server until a connection reports it
     * @throws LockConfigurationException if it is a client of another kind
     */
    public static Route route(UnifiedJedis client, String name) {
        Object provider = read(PROVIDER, client);
        if (provider instanceof PooledConnectionProvider single) {
            return PoolRoute.to(single.getPool(), name, null);
        } else if (provider instanceof SentineledConnectionProvider sentinels) {
            return PoolRoute.to(sentinels, null);
        } else if (provider instanceof ClusterConnectionProvider cluster) {
            return new ClusterRoute(cluster, null);
        }
        throw new LockConfigurationException(
                null,
                "Lockstep cannot use a " + client.getClass().getName()
                        + ": it takes clients of a single server, of Sentinels or of a cluster, with a pool of connections.");
    }

    /** Whether a client is of a single server; a Redlock consists of such clients. */
    public static boolean isOfSingleServer(UnifiedJedis client) {
        return read(PROVIDER, client) instanceof PooledConnectionProvider;
    }

    /** The connections to the primary that Sentinels name now. */
    @SuppressWarnings("unchecked") // it is a ConnectionPool in every version
    static Pool<Connection> pool(SentineledConnectionProvider sentinels) {
        Object pool = read(SENTINEL_POOL, sentinels);
        if (pool == null) {
            throw new IllegalStateException("The Sentinels have named no primary yet.");
        }
        return (Pool<Connection>) pool;
    }

    /** Where a connection leads; null if the application connects in a way that does not say. */
    static @Nullable HostAndPort address(Connection connection) {
        try {
            return (HostAndPort) ADDRESS.get().invoke(connection);
        } catch (InvocationTargetException e) {
            return null; // its socket factory is not the usual one
        } catch (IllegalAccessException e) {
            throw unsupported(e);
        }
    }

    /** Closes a connection's socket without writing to it, so that a thread that reads from it wakes up. */
    static void disconnect(Connection connection) throws IOException {
        connection.setBroken();
        if (read(SOCKET, connection) instanceof Socket socket) {
            socket.close();
        }
    }

    private static @Nullable Object read(Member<Field> field, Object owner) {
        try {
            return field.get().get(owner);
        } catch (IllegalAccessException e) {
            throw unsupported(e);
        }
    }
}
