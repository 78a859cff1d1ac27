package dev.lockstep.jdbc;

import dev.lockstep.servers.PostgresServer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The contract on PostgreSQL 18. */
@Tag("soak")
class ContractPostgres18Test extends PostgresContract {
    @BeforeAll
    static void startServer() {
        startServer(PostgresServer.builder().version18());
    }
}
