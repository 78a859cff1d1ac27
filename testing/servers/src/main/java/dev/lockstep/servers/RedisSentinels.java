package dev.lockstep.servers;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A Redis primary with its replicas, and Sentinels that make a replica the primary when the primary has not answered for a
 * second. Thread-safe.
 */
public final class RedisSentinels implements AutoCloseable {
    /** The name by which Sentinels know the primary. */
    public static final String PRIMARY_NAME = "lockstep";

    private final ServerGroup<RedisServer> servers;
    private final ServerGroup<RedisServer> sentinels;

    private RedisSentinels(ServerGroup<RedisServer> servers, ServerGroup<RedisServer> sentinels) {
        this.servers = servers;
        this.sentinels = sentinels;
    }

    static RedisSentinels start(List<RedisServer> servers, int count, @Nullable String password) {
        List<String> directives = new ArrayList<>();
        directives.add("sentinel monitor " + PRIMARY_NAME + " " + ServerProcess.HOST + " "
                + servers.get(0).port() + " " + (count / 2 + 1));
        directives.add("sentinel down-after-milliseconds " + PRIMARY_NAME + " 1000");
        directives.add("sentinel failover-timeout " + PRIMARY_NAME + " 5000");
        if (password != null) {
            directives.add("sentinel auth-pass " + PRIMARY_NAME + " " + password);
        }
        List<RedisServer> sentinels = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            sentinels.add(RedisServer.sentinel(directives));
        }
        RedisSentinels group = new RedisSentinels(new ServerGroup<>(servers), new ServerGroup<>(sentinels));
        ServerProcess.orClose(group, () -> {
            ServerProcess.startAll(servers);
            servers.stream().skip(1).forEach(RedisServer::awaitLink);
            ServerProcess.startAll(sentinels);
            group.awaitAcquaintance();
        });
        return group;
    }

    /** Without this the first failover could find too few Sentinels to decide, or no replica. */
    private void awaitAcquaintance() {
        int replicas = servers.servers().size() - 1;
        int others = sentinels.servers().size() - 1;
        for (RedisServer sentinel : sentinels.servers()) {
            Await.until(sentinel + " knows all others", RedisServer.START_TIMEOUT, () -> {
                List<String> facts = sentinel.command("SENTINEL", "MASTER", PRIMARY_NAME)
                        .lines()
                        .toList();
                return fact(facts, "num-slaves").equals(Integer.toString(replicas))
                        && fact(facts, "num-other-sentinels").equals(Integer.toString(others));
            });
        }
    }

    private static String fact(List<String> facts, String name) {
        int at = facts.indexOf(name);
        return at < 0 ? "" : facts.get(at + 1);
    }

    /**
     * The servers with the data.
     *
     * @return the first primary, then the first replicas
     */
    public ServerGroup<RedisServer> servers() {
        return servers;
    }

    /**
     * The Sentinels.
     *
     * @return those that clients ask for the primary
     */
    public ServerGroup<RedisServer> sentinels() {
        return sentinels;
    }

    /**
     * The primary, as a Sentinel sees it now.
     *
     * @return one of the servers
     */
    public RedisServer primary() {
        RedisServer sentinel = sentinels.find(RedisServer::isAlive);
        List<String> answer = sentinel.command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", PRIMARY_NAME)
                .lines()
                .toList();
        int port = Integer.parseInt(answer.get(1));
        return servers.servers().stream()
                .filter(server -> server.port() == port)
                .findFirst()
                .orElseThrow(() -> new ServerException("the primary is none of " + servers + ": " + answer));
    }

    /** Closes all servers and Sentinels. */
    @Override
    public void close() {
        sentinels.close();
        servers.close();
    }

    @Override
    public String toString() {
        return servers + " watched by " + sentinels;
    }
}
