package dev.lockstep.jdbc;

import dev.lockstep.servers.MySqlServer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The contract on MySQL 9. */
@Tag("soak")
class ContractMySql9Test extends MySqlOnlyContract {
    @BeforeAll
    static void startServer() {
        startServer(MySqlServer.mysql9());
    }
}
