package dev.lockstep.redis;

import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.tck.BackendFixture;
import dev.lockstep.tck.LockContract;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The contract on a single server, with the textbook's lock. */
@Tag("full")
class ContractPlainTest extends LockContract {
    @AutoClose
    private static RedisServer server;

    @BeforeAll
    static void startServer() {
        // Keeps its data over a restart; not held up by a disk that is busy.
        server = Servers.require(() -> RedisServer.builder()
                .setting("appendonly", "yes")
                .setting("appendfsync", "no")
                .start());
    }

    @Override
    protected BackendFixture fixture() {
        return new SingleFixture(server, "?queue=off");
    }
}
