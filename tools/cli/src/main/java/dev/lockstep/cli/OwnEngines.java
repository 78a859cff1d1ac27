package dev.lockstep.cli;

import dev.lockstep.servers.EtcdServer;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.ServerProcess;
import dev.lockstep.servers.ServerUnavailableException;
import dev.lockstep.servers.ZooKeeperServer;
import java.io.IOException;
import java.util.EnumMap;
import java.util.Map;
import java.util.UUID;

/**
 * Engines for the duration of a command, if no URL is given: created when first needed, removed when it ends. For one
 * thread.
 */
final class OwnEngines implements AutoCloseable {
    private static final String NEVER = "3600000";

    private final Scratch scratch;
    private final String memory = "memory:" + UUID.randomUUID();
    private final Map<Algorithm.Family, ServerProcess> servers = new EnumMap<>(Algorithm.Family.class);

    OwnEngines() throws IOException {
        this.scratch = Scratch.folder("explain");
    }

    /** The URL of an engine of a family. */
    String url(Algorithm.Family family) {
        return switch (family) {
            case MEMORY -> memory;
            case SQL -> "jdbc:sqlite:" + scratch.path().resolve("locks.db");
            case REDLOCK ->
                throw new Refusal(
                        ExitCodes.USAGE,
                        "redlock needs servers that are older than the ttl: give --url " + family.exampleUrl);
            case ZOOKEEPER, REDIS, ETCD ->
                family.scheme + "://"
                        + servers.computeIfAbsent(family, OwnEngines::start).address();
        };
    }

    private static ServerProcess start(Algorithm.Family family) {
        if (!Addon.isThere()) {
            throw new Refusal(
                    ExitCodes.USAGE,
                    "to start a server of its own, explain needs " + Addon.NAME + "; or give --url "
                            + family.exampleUrl);
        }
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
        scratch.close();
    }
}
