package dev.lockstep.jdbc;

import dev.lockstep.servers.MySqlServer;
import org.junit.jupiter.api.BeforeAll;

/** The contract on MySQL. */
class ContractMySqlTest extends MySqlOnlyContract {
    @BeforeAll
    static void startServer() {
        startServer(MySqlServer.builder());
    }
}
