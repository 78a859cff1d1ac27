package dev.lockstep.redis;

import dev.lockstep.servers.RedisServer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The contract on a single server of Redis 8. */
@Tag("soak")
class ContractRedis8Test extends OneServerContract {
    @BeforeAll
    static void startServer() {
        startServer(RedisServer.builder().redis8());
    }
}
