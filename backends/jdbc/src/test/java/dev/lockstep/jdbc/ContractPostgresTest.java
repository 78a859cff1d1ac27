package dev.lockstep.jdbc;

import dev.lockstep.servers.PostgresServer;
import org.junit.jupiter.api.BeforeAll;

/** The contract on PostgreSQL. */
class ContractPostgresTest extends PostgresContract {
    @BeforeAll
    static void startServer() {
        startServer(PostgresServer.builder());
    }
}
