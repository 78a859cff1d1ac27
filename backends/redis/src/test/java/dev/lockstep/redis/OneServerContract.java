package dev.lockstep.redis;

import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.tck.BackendFixture;
import dev.lockstep.tck.LockContract;
import org.junit.jupiter.api.AutoClose;

/** The contract on a single server, with the queue. */
abstract class OneServerContract extends LockContract {
    @AutoClose
    private static RedisServer server;

    /** Starts the server, or skips the class. It keeps its data over a restart, and does not wait for a busy disk. */
    static void startServer(RedisServer.Builder builder) {
        server = Servers.require(() -> builder.setting("appendonly", "yes")
                .setting("appendfsync", "no")
                .start());
    }

    @Override
    protected BackendFixture fixture() {
        return new SingleFixture(server, "");
    }
}
