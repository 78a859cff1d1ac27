package dev.lockstep.jdbc;

import dev.lockstep.LockClient;
import dev.lockstep.servers.TcpProxy;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.tck.BackendFixture;
import dev.lockstep.tck.Capability;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** A fixture over any of the databases. Each client goes through a proxy of its own where there is a network. */
final class SqlFixture implements BackendFixture {
    /** A database to test on. */
    interface Database {
        /** The URL for processes that nothing hurts, with user and password. */
        String url();

        /** The URL through a port in front of the server. */
        default String url(int port) {
            throw new UnsupportedOperationException();
        }

        /** The server's port; 0 if there is no network. */
        default int port() {
            return 0;
        }

        default void restart() {
            throw new UnsupportedOperationException();
        }

        Set<Capability> capabilities();

        default int attempts() {
            return 100;
        }

        List<String> malformedUrls();
    }

    private record Side(
            String clientId, HurtSource source, @Nullable TcpProxy proxy, AtomicBoolean closed) {}

    private final Database database;
    private final AtomicLong statements = new AtomicLong();
    private final Map<LockClient, Side> sides = new ConcurrentHashMap<>();

    SqlFixture(Database database) {
        this.database = database;
    }

    @Override
    public LockClient open(LockClient.Builder builder) {
        TcpProxy proxy = database.port() == 0 ? null : TcpProxy.to(database.port());
        Side[] side = new Side[1];
        try {
            LockClient client = builder.backend(context -> {
                        String url = proxy == null ? database.url() : database.url(proxy.port());
                        Dialect dialect = Dialects.ofUrl(url);
                        HurtSource source = new HurtSource(
                                OwnPool.source(url, dialect, context.requestTimeout()),
                                statements,
                                context.requestTimeout());
                        side[0] = new Side(context.clientId(), source, proxy, new AtomicBoolean());
                        JdbcEngine locks = JdbcEngine.at(url).createSchema(true).driver(source);
                        return closingWith(locks.open(context), side[0]);
                    })
                    .connect();
            sides.put(client, side[0]);
            return client;
        } catch (RuntimeException e) {
            if (proxy != null) {
                proxy.close();
            }
            throw e;
        }
    }

    /** Each proxy has a thread, which the contract would take for one of the client's. */
    private static LockBackend closingWith(LockBackend backend, Side side) {
        return HurtSource.proxy(LockBackend.class, (self, method, arguments) -> {
            Object result = HurtSource.invoke(backend, method, arguments);
            if (side.proxy != null && method.getName().equals("close")) {
                side.closed.set(true);
                side.proxy.close();
            }
            return result;
        });
    }

    @Override
    public Set<Capability> capabilities() {
        return database.capabilities();
    }

    @Override
    public Duration ttl() {
        return Duration.ofMillis(1_500);
    }

    /** The capabilities that all databases have. */
    static Set<Capability> common() {
        return EnumSet.of(
                Capability.SHARED,
                Capability.LIMITS,
                Capability.FAIR,
                Capability.DOWNGRADE,
                Capability.KEEPS_WHEN_CLOSED,
                Capability.SHOWS_WAITERS,
                Capability.RECORDS_WAITS,
                Capability.SHOWS_REMAINING,
                Capability.SHOWS_GRANTED,
                Capability.LISTS_NAMESPACES,
                Capability.BREAK_CONNECTION,
                Capability.LOSE_REPLIES,
                Capability.SLOW_DOWN,
                Capability.EXPIRE_SESSION,
                Capability.COUNT_REQUESTS,
                Capability.REPORTS_REQUESTS,
                Capability.SECOND_PROCESS);
    }

    static Set<Capability> common(Capability... more) {
        Set<Capability> all = common();
        all.addAll(List.of(more));
        return all;
    }

    @Override
    public Optional<String> url() {
        return Optional.of(database.url());
    }

    @Override
    public List<String> malformedUrls() {
        return database.malformedUrls();
    }

    @Override
    public int attempts() {
        return database.attempts();
    }

    @Override
    public void breakConnection(LockClient client) {
        Side side = side(client);
        if (side.proxy != null) {
            side.proxy.cut();
        } else {
            side.source.hurt(HurtSource.Fault.CUT);
        }
    }

    @Override
    public void silence(LockClient client) {
        Side side = side(client);
        if (side.proxy != null) {
            side.proxy.blackHole();
        } else {
            side.source.hurt(HurtSource.Fault.SILENT);
        }
    }

    @Override
    public void loseReplies(LockClient client) {
        Side side = side(client);
        if (side.proxy != null) {
            side.proxy.dropReplies();
        } else {
            side.source.hurt(HurtSource.Fault.DEAF);
        }
    }

    @Override
    public void slowDown(LockClient client, Duration delay) {
        Side side = side(client);
        if (side.proxy != null) {
            side.proxy.delay(TcpProxy.Direction.REPLIES, delay);
        } else {
            side.source.delay(delay);
        }
    }

    @Override
    public void healConnection(LockClient client) {
        Side side = side(client);
        side.source.hurt(HurtSource.Fault.NONE);
        side.source.delay(Duration.ZERO);
        if (side.proxy != null && !side.closed.get()) {
            side.proxy.delay(Duration.ZERO);
            side.proxy.heal();
        }
    }

    @Override
    public void expireSession(LockClient client) {
        execute(database.url(), "DELETE FROM lockstep_sessions WHERE id LIKE '" + side(client).clientId + ":%'");
    }

    /** Runs a statement beside the clients. */
    static int execute(String url, String sql) {
        Dialect dialect = Dialects.ofUrl(url);
        try (Connection connection =
                        OwnPool.source(url, dialect, Duration.ofSeconds(10)).getConnection();
                Statement statement = connection.createStatement()) {
            return statement.executeUpdate(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void restartServer() {
        database.restart();
    }

    @Override
    public long requestCount() {
        return statements.get();
    }

    @Override
    public void close() {
        sides.values().forEach(side -> {
            if (side.proxy != null) {
                side.proxy.close();
            }
        });
    }

    private Side side(LockClient client) {
        Side side = sides.get(client);
        if (side == null) {
            throw new IllegalArgumentException("not opened here: " + client.name());
        }
        return side;
    }
}
