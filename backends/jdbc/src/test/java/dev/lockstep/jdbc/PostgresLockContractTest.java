package dev.lockstep.jdbc;

import dev.lockstep.servers.PostgresServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.SqlServer;
import dev.lockstep.tck.Capability;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The contract on Postgres. */
class PostgresLockContractTest extends SqlContract {
    private static SqlServer server;

    @BeforeAll
    static void startServer() {
        server = Servers.require(() -> PostgresServer.builder().start());
    }

    @AfterAll
    static void stopServer() {
        if (server != null) {
            server.close();
        }
    }

    @Override
    SqlFixture.Database database() {
        return new ServerDatabase(
                server,
                SqlServer.USER,
                SqlServer.PASSWORD,
                SqlFixture.common(Capability.PUSH, Capability.TELLS_WANTED, Capability.RESTART_SERVER));
    }
}
