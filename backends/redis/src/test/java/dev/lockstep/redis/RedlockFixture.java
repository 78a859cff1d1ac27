package dev.lockstep.redis;

import dev.lockstep.LockClient;
import dev.lockstep.redis.internal.Route;
import dev.lockstep.redis.internal.Url;
import dev.lockstep.redis.redlock.RedlockEngines;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.TcpProxy;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.tck.Capability;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.awaitility.Awaitility;

/** Several independent servers, each client through a proxy of its own to each of them. */
final class RedlockFixture extends RedisFixture {
    RedlockFixture(List<RedisServer> servers) {
        super(servers, Redlocks.url(servers));
    }

    @Override
    LockBackend backend(BackendContext context, Map<Integer, TcpProxy> proxies) {
        List<Function<BackendContext, Route>> routes = new ArrayList<>();
        for (RedisServer server : servers()) {
            TcpProxy proxy = proxies.get(server.port());
            routes.add(own -> closingToo(connect(own, Map.of(server.port(), proxy)), List.of(proxy)));
        }
        return RedlockEngines.on(routes).open(context);
    }

    @Override
    Route connect(BackendContext context, Map<Integer, TcpProxy> proxies) {
        int port = proxies.values().iterator().next().port();
        return Url.parse("redis://127.0.0.1:" + port).connect(context);
    }

    @Override
    public Set<Capability> capabilities() {
        return EnumSet.complementOf(EnumSet.of(
                Capability.SHARED,
                Capability.FAIR,
                Capability.DOWNGRADE,
                Capability.LIMITS,
                Capability.PUSHES_CHANGES,
                Capability.KEEPS_WHEN_CLOSED));
    }

    /** A renewal between two servers takes back what was ended at the first of them, so it is done until nothing is left. */
    @Override
    public void expireSession(LockClient client) {
        Awaitility.await("the session's end").atMost(Bench.PATIENCE).until(() -> !expireOnAll(client));
    }

    @Override
    public List<String> malformedUrls() {
        return List.of(
                "redlock:",
                "redlock://",
                "redlock://a",
                "redlock://a,b",
                "redlock://a,b,a",
                "redlock://a,b,a:6379",
                "redlock://user:s3cret@a,b",
                "redlock://s3cret@a,b,c",
                "redlock://user:s3cret@a,b,c:x",
                "redlock://user:s3cret@a,b,c/x",
                "redlock://user:s3cret@a,b,c?queue=off",
                "redlock://user:s3cret@a,b,c?replicas=1",
                "redlock://user:s3cret@a,b,c?password=s3cret",
                "redlock://a,b,c?ca=/none",
                "redlocks://user:s3cret@a,b,c?ca=/none");
    }

    @Override
    public Duration ttl() {
        return Duration.ofMillis(2_500);
    }

    @Override
    public int attempts() {
        return 100;
    }

    /** They keep their data; that the time has passed after which they vote again is left to other tests. */
    @Override
    public void restartServer() {
        super.restartServer();
        servers().forEach(server -> Redlocks.age(server, servers().size()));
    }

    /** Rounds: each is a request to each server. */
    @Override
    public long requestCount() {
        return super.requestCount() / servers().size();
    }
}
