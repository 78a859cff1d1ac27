package dev.lockstep.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.LockClient;
import dev.lockstep.redis.internal.Route;
import dev.lockstep.redis.internal.Settings;
import dev.lockstep.redis.internal.Url;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.TcpProxy;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.tck.BackendFixture;
import dev.lockstep.tck.Capability;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Collection;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.awaitility.Awaitility;

/** Some servers, and for each client a proxy in front of each of them. */
abstract class RedisFixture implements BackendFixture {
    /** Ends all that a client holds and waits for, as its death and the passing of time would. Returns how much it held. */
    private static final String EXPIRE = """
            local ended = 0
            local function is_its(id)
              return string.sub(id, 1, 22) == ARGV[1]
            end
            for _, key in ipairs(redis.call('KEYS', 'lockstep:*')) do
              local kind = redis.call('TYPE', key).ok
              if kind == 'hash' and is_its(redis.call('HGET', key, 'owner') or '') then
                ended = ended + redis.call('HDEL', key, 'owner', 'until', 'info')
              elseif string.sub(key, -7) == ':claims' then
                for _, field in ipairs(redis.call('HKEYS', key)) do
                  if is_its(field) or (string.sub(field, 1, 1) == 'x' and is_its(string.sub(field, 2))) then
                    redis.call('HDEL', key, field)
                  end
                end
              elseif kind == 'zset' then
                for _, id in ipairs(redis.call('ZRANGE', key, 0, -1)) do
                  if is_its(id) then
                    redis.call('ZREM', key, id)
                  end
                end
              elseif kind == 'string' and is_its(redis.call('GET', key)) then
                ended = ended + redis.call('DEL', key)
              end
            end
            return ended
            """;

    private static final Set<Capability> OF_THE_QUEUE = EnumSet.of(
            Capability.SHARED,
            Capability.LIMITS,
            Capability.FAIR,
            Capability.DOWNGRADE,
            Capability.PUSH,
            Capability.TELLS_WANTED,
            Capability.SHOWS_WAITERS,
            Capability.RECORDS_WAITS);

    /** One client: its proxies by the ports of the servers behind them, and its id. */
    private record Side(Map<Integer, TcpProxy> proxies, String clientId, String namespace) {}

    private final List<RedisServer> servers;
    private final String url;
    private final Settings options;
    private final Map<LockClient, Side> sides = new ConcurrentHashMap<>();
    private final Set<TcpProxy> closed = ConcurrentHashMap.newKeySet();

    /** For servers that other processes reach by a URL. */
    RedisFixture(List<RedisServer> servers, String url) {
        this.servers = servers;
        this.url = url;
        this.options = Url.parse(url).settings();
    }

    /** Connects a client through proxies, by the ports of the servers behind them. */
    abstract Route connect(BackendContext context, Map<Integer, TcpProxy> proxies);

    LockBackend backend(BackendContext context, Map<Integer, TcpProxy> proxies) {
        return RedisEngine.open(context, own -> closingToo(connect(own, proxies), proxies.values()), options);
    }

    final List<RedisServer> servers() {
        return servers;
    }

    @Override
    public LockClient open(LockClient.Builder builder) {
        Map<Integer, TcpProxy> proxies = new HashMap<>();
        servers.forEach(server -> proxies.put(server.port(), TcpProxy.to(server)));
        Side[] side = new Side[1];
        LockClient client = builder.backend(context -> {
                    side[0] = new Side(proxies, context.clientId(), context.namespace());
                    return backend(context, proxies);
                })
                .connect();
        sides.put(client, side[0]);
        return client;
    }

    /** A route that takes its proxies along when it is closed, so that no thread is left of them. */
    final Route closingToo(Route route, Collection<TcpProxy> proxies) {
        return (Route) Proxy.newProxyInstance(
                Route.class.getClassLoader(), new Class<?>[] {Route.class}, (self, method, arguments) -> {
                    try {
                        return method.invoke(route, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    } finally {
                        if (method.getName().equals("close")) {
                            close(proxies);
                        }
                    }
                });
    }

    @Override
    public Set<Capability> capabilities() {
        Set<Capability> all = EnumSet.complementOf(EnumSet.of(Capability.PUSHES_CHANGES));
        if (!options.queue()) {
            all.removeAll(OF_THE_QUEUE);
        }
        return all;
    }

    @Override
    public Optional<String> url() {
        return Optional.of(url);
    }

    @Override
    public List<String> malformedUrls() {
        return List.of(
                "redis:",
                "redis://",
                "redis://:s3cret@",
                "redis://host:port",
                "redis://host:0",
                "redis://host:70000",
                "redis://s3cret@host",
                "redis://user:s3cret@host:x",
                "redis://user:s3cret@host/x",
                "redis://a,b",
                "redis://host/1/2",
                "redis://user:s3cret@host?queue=perhaps",
                "redis://user:s3cret@host?password=s3cret",
                "redis://host?replicas=-1",
                "redis://host?",
                "redis://host?queue=on&",
                "redis://host?=on",
                "redis://host?Queue=on",
                "redis://host?queue=ON",
                "redis://host?queue=on&queue=on",
                "redis://host?pool=8&queue=on&pool=9",
                "redis://host?eviction=perhaps",
                "redlock://a,b,c?pool=8&pool=8",
                "redis://host?waiterExpiry=5",
                "redis://host?waiterExpiry=1ms",
                "redis://host?pool=0",
                "redis://host?ca=/none",
                "rediss://user:s3cret@host?ca=/none",
                "redis://user:s3%cret@host",
                "redis-sentinel://user:s3cret@host",
                "redis-cluster://user:s3cret@host/3",
                "redis-other://user:s3cret@host");
    }

    @Override
    public Duration ttl() {
        return Duration.ofMillis(1_500);
    }

    @Override
    public int attempts() {
        return options.queue() ? 300 : 100;
    }

    @Override
    public void breakConnection(LockClient client) {
        open(client).forEach(TcpProxy::blackHole);
    }

    @Override
    public void loseReplies(LockClient client) {
        open(client).forEach(TcpProxy::dropReplies);
    }

    @Override
    public void slowDown(LockClient client, Duration delay) {
        open(client).forEach(proxy -> proxy.delay(TcpProxy.Direction.REPLIES, delay));
    }

    @Override
    public void healConnection(LockClient client) {
        open(client).forEach(proxy -> {
            proxy.delay(Duration.ZERO);
            proxy.heal();
        });
    }

    @Override
    public void expireSession(LockClient client) {
        expireOnAll(client);
    }

    /** Ends a client's session on one server after the other; true if it held anything. */
    final boolean expireOnAll(LockClient client) {
        return servers.stream()
                        .filter(server -> !server.command("EVAL", EXPIRE, "0", side(client).clientId)
                                .strip()
                                .equals("0"))
                        .count()
                > 0;
    }

    @Override
    public void restartServer() {
        servers.forEach(RedisServer::restart);
    }

    @Override
    public long requestCount() {
        return servers.stream()
                .mapToLong(server -> Calls.of(server, "evalsha", "eval", "subscribe"))
                .sum();
    }

    @Override
    public void assertNothingLeft(LockClient observer, Duration patience) {
        BackendFixture.super.assertNothingLeft(observer, patience);
        // For an unused lock only its token is kept, and for a time the claims that were given up while unreachable.
        Awaitility.await("no queue, reader or record is left")
                .atMost(patience)
                .untilAsserted(() -> assertThat(keys(side(observer).namespace))
                        .noneMatch(key -> key.matches(".*\\}:(queue|readers|claims)")));
    }

    private List<String> keys(String namespace) {
        return servers.stream()
                .flatMap(server ->
                        server.command("KEYS", "lockstep:*" + namespace + "*").lines())
                .toList();
    }

    @Override
    public void close() {
        sides.values().forEach(side -> close(side.proxies.values()));
    }

    private void close(Collection<TcpProxy> proxies) {
        proxies.stream().filter(closed::add).forEach(TcpProxy::close);
    }

    private List<TcpProxy> open(LockClient client) {
        return side(client).proxies.values().stream()
                .filter(proxy -> !closed.contains(proxy))
                .toList();
    }

    private Side side(LockClient client) {
        Side side = sides.get(client);
        if (side == null) {
            throw new IllegalArgumentException("not opened here: " + client.name());
        }
        return side;
    }
}
