package dev.lockstep.redis;

import dev.lockstep.servers.RedisServer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The contract on a single server of Valkey 9. */
@Tag("soak")
class ContractValkey9Test extends OneServerContract {
    @BeforeAll
    static void startServer() {
        startServer(RedisServer.builder().valkey9());
    }
}
