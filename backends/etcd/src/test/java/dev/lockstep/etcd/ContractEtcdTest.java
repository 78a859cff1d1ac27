package dev.lockstep.etcd;

import dev.lockstep.servers.EtcdServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.tck.BackendFixture;
import dev.lockstep.tck.LockContract;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The contract on a single member. */
class ContractEtcdTest extends LockContract {
    private static EtcdServer server;

    @BeforeAll
    static void startServer() {
        server = Servers.require(() -> EtcdServer.builder().start());
    }

    @AfterAll
    static void stopServer() {
        if (server != null) {
            server.close();
        }
    }

    @Override
    protected BackendFixture fixture() {
        return new EtcdFixture(List.of(server));
    }
}
