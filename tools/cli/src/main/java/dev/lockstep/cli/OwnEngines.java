package dev.lockstep.cli;

import java.io.IOException;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Engines for the duration of a command, if no URL is given: created when first needed, removed when it ends. For one
 * thread.
 */
final class OwnEngines implements AutoCloseable {
    private final Scratch scratch;
    private final String memory = "memory:" + UUID.randomUUID();
    private @Nullable OwnServers servers;

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
                family.scheme + "://" + servers(family).address(family);
        };
    }

    private OwnServers servers(Algorithm.Family family) {
        if (!Addon.isThere()) {
            throw new Refusal(
                    ExitCodes.USAGE,
                    "to start a server of its own, explain needs " + Addon.NAME + "; or give --url "
                            + family.exampleUrl);
        }
        OwnServers started = servers;
        if (started == null) {
            started = new OwnServers();
            servers = started;
        }
        return started;
    }

    @Override
    public void close() {
        if (servers != null) {
            servers.close();
        }
        scratch.close();
    }
}
