package dev.lockstep.zookeeper;

import dev.lockstep.servers.Servers;
import dev.lockstep.servers.ZooKeeperServer;
import dev.lockstep.tck.BackendFixture;
import dev.lockstep.tck.LockContract;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;

/** The contract on one server, with queues. */
class ContractStandaloneTest extends LockContract {
    @AutoClose
    private static ZooKeeperServer server;

    @BeforeAll
    static void startServer() {
        server = Servers.require(() -> ZooKeeperServer.builder()
                .systemProperty("znode.container.checkIntervalMs", "1000") // idle locks are removed while tests run
                .start());
    }

    @Override
    protected BackendFixture fixture() {
        return new ZooKeeperFixture(List.of(server), "");
    }
}
