package dev.lockstep.redis;

import dev.lockstep.servers.RedisServer;
import org.junit.jupiter.api.BeforeAll;

/** The contract on a single server of the oldest version, with the queue; the cluster is of the newest. */
class ContractRedisTest extends OneServerContract {
    @BeforeAll
    static void startServer() {
        startServer(RedisServer.builder().version62());
    }
}
