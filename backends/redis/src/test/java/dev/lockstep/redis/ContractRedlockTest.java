package dev.lockstep.redis;

import dev.lockstep.servers.RedisServer;
import dev.lockstep.tck.BackendFixture;
import dev.lockstep.tck.LockContract;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The contract on five independent servers. */
class ContractRedlockTest extends LockContract {
    private static List<RedisServer> servers = List.of();

    @BeforeAll
    static void startServers() {
        // Keep their data over a restart; not held up by a disk that is busy.
        servers = Redlocks.start(
                5, RedisServer.builder().setting("appendonly", "yes").setting("appendfsync", "no"));
    }

    @AfterAll
    static void stopServers() {
        servers.forEach(RedisServer::close);
    }

    @Override
    protected BackendFixture fixture() {
        return new RedlockFixture(servers);
    }
}
