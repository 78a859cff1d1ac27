package dev.lockstep.redis;

import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Sets of independent servers. */
final class Redlocks {
    private Redlocks() {}

    /** Starts servers that vote at once, as if they had long been up. */
    static List<RedisServer> start(int count, RedisServer.Builder builder) {
        List<RedisServer> servers = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            servers.add(Servers.require(builder::start));
        }
        servers.forEach(server -> age(server, count));
        return servers;
    }

    /** Lets a server be old enough to vote. */
    static void age(RedisServer server) {
        age(server, 5);
    }

    private static void age(RedisServer server, int count) {
        server.command(
                "HSET",
                "lockstep:redlock",
                "run",
                server.info("run_id"),
                "born",
                "1",
                "servers",
                Integer.toString(count));
    }

    static String url(List<RedisServer> servers) {
        return servers.stream().map(RedisServer::address).collect(Collectors.joining(",", "redlock://", ""));
    }
}
