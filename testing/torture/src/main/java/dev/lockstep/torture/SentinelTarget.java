package dev.lockstep.torture;

import dev.lockstep.servers.RedisSentinels;
import dev.lockstep.servers.RedisServer;
import java.util.List;
import java.util.Random;

/** A Redis primary with a replica, and Sentinels that promote it. */
final class SentinelTarget extends ReplicatedRedisTarget {
    private final RedisSentinels servers = RedisServer.builder().persistent().startSentinels(1, 3);

    @Override
    public String name() {
        return "redis-sentinel";
    }

    @Override
    public String url(List<Integer> ports) {
        return "redis-sentinel://" + servers.sentinels().addresses() + "/" + RedisSentinels.PRIMARY_NAME
                + "?replicas=1&waiterExpiry=1s";
    }

    @Override
    RedisServer primary(Random random) {
        return servers.primary();
    }

    @Override
    List<RedisServer> primaries() {
        return List.of(servers.primary());
    }

    @Override
    List<RedisServer> nodes() {
        return servers.servers().servers();
    }

    @Override
    public void close() {
        servers.close();
    }
}
