package dev.lockstep.jdbc;

import dev.lockstep.servers.MySqlServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.SqlServer;
import dev.lockstep.tck.Capability;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** The contract on MySql. */
class MySqlLockContractTest extends MySqlContract {
    private static SqlServer server;

    @BeforeAll
    static void startServer() {
        server = Servers.require(() -> MySqlServer.builder().start());
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
                server, SqlServer.USER, SqlServer.PASSWORD, SqlFixture.common(Capability.RESTART_SERVER));
    }

    /** Waits for locks that are not necessary. */
    @Nested
    class Deadlocks {
        @Test
        void sixteenThreadsCauseNone() throws Exception {
            MySqlDeadlocks.assertNone(
                    server,
                    database().url(),
                    "SELECT COUNT FROM information_schema.INNODB_METRICS WHERE NAME = 'lock_deadlocks'");
        }
    }
}
