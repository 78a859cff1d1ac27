package dev.lockstep.zookeeper;

import dev.lockstep.servers.Servers;
import dev.lockstep.servers.ZooKeeperServer;
import dev.lockstep.tck.BackendFixture;
import dev.lockstep.tck.Capability;
import dev.lockstep.tck.LockContract;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The contract on one server, without queues. */
@Tag("full")
class ContractPlainTest extends LockContract {
    @AutoClose
    private static ZooKeeperServer server;

    @BeforeAll
    static void startServer() {
        server = Servers.require(() -> ZooKeeperServer.builder().start());
    }

    @Override
    protected BackendFixture fixture() {
        return new ZooKeeperFixture(
                List.of(server),
                "?queue=off",
                Capability.SHARED,
                Capability.LIMITS,
                Capability.FAIR,
                Capability.DOWNGRADE,
                Capability.TELLS_WANTED,
                Capability.SHOWS_WAITERS,
                Capability.RECORDS_WAITS);
    }
}
