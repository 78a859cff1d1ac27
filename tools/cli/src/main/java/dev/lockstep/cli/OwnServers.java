package dev.lockstep.cli;

import dev.lockstep.servers.EtcdServer;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.ServerProcess;
import dev.lockstep.servers.ServerUnavailableException;
import dev.lockstep.servers.ZooKeeperServer;
import java.util.EnumMap;
import java.util.Map;

/**
 * Servers for the duration of a command, each started when first needed. Only for use if the {@link Addon} is there: the
 * command itself has no servers. For one thread.
 */
final class OwnServers implements AutoCloseable {
    private static final String NEVER = "3600000";

    private final Map<Algorithm.Family, ServerProcess> servers = new EnumMap<>(Algorithm.Family.class);

    /** Where the server of a family listens, as host:port. */
    String address(Algorithm.Family family) {
        return servers.computeIfAbsent(family, OwnServers::start).address();
    }

    private static ServerProcess start(Algorithm.Family family) {
        try {
            return switch (family) {
                case ZOOKEEPER ->
                    // Keeps the server from removing empty containers, which would show up in the middle of the steps.
                    ZooKeeperServer.builder()
                            .systemProperty("znode.container.checkIntervalMs", NEVER)
                            .start();
                case REDIS -> RedisServer.builder().start();
                case ETCD -> EtcdServer.builder().start();
                case MEMORY, SQL, REDLOCK -> throw new IllegalArgumentException(family + " has no server of its own");
            };
        } catch (ServerUnavailableException e) {
            throw new Refusal(ExitCodes.UNAVAILABLE, e.getMessage() + " Or give --url " + family.exampleUrl);
        }
    }

    @Override
    public void close() {
        servers.values().forEach(ServerProcess::close);
    }
}
