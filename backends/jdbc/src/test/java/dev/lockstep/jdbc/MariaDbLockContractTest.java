package dev.lockstep.jdbc;

import dev.lockstep.servers.MySqlServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.SqlServer;
import dev.lockstep.tck.BackendFixture;
import dev.lockstep.tck.Capability;
import dev.lockstep.tck.LockContract;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The contract on MariaDb. */
class MariaDbLockContractTest extends LockContract {
    private static SqlServer server;

    @BeforeAll
    static void startServer() {
        server = Servers.require(() -> MySqlServer.mariaDb().start());
    }

    @AfterAll
    static void stopServer() {
        if (server != null) {
            server.close();
        }
    }

    @Override
    protected BackendFixture fixture() {
        return new SqlFixture(new ServerDatabase(server, SqlFixture.common(Capability.RESTART_SERVER)));
    }
}
