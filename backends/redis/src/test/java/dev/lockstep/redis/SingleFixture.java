package dev.lockstep.redis;

import dev.lockstep.redis.internal.Route;
import dev.lockstep.redis.internal.Url;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.TcpProxy;
import dev.lockstep.spi.BackendContext;
import java.util.List;
import java.util.Map;

/** A single server. */
final class SingleFixture extends RedisFixture {
    private final String options;

    SingleFixture(RedisServer server, String options) {
        super(List.of(server), server.url() + options);
        this.options = options;
    }

    @Override
    Route connect(BackendContext context, Map<Integer, TcpProxy> proxies) {
        int port = proxies.values().iterator().next().port();
        return Url.parse("redis://127.0.0.1:" + port + options).connect(context);
    }
}
