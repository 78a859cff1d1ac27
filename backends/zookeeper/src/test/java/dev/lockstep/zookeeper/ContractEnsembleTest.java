package dev.lockstep.zookeeper;

import dev.lockstep.LockClient;
import dev.lockstep.servers.ServerGroup;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.TcpProxy;
import dev.lockstep.servers.ZooKeeperServer;
import dev.lockstep.tck.BackendFixture;
import dev.lockstep.tck.LockContract;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The contract on an ensemble of three, where a client that is cut off is not notified of that. */
@Tag("full")
class ContractEnsembleTest extends LockContract {
    @AutoClose
    private static ServerGroup<ZooKeeperServer> ensemble;

    @BeforeAll
    static void startServers() {
        ensemble = Servers.require(() -> ZooKeeperServer.builder().startEnsemble(3));
    }

    @Override
    protected BackendFixture fixture() {
        return new ZooKeeperFixture(ensemble.servers(), "") {
            @Override
            public void breakConnection(LockClient client) {
                hurt(client, TcpProxy::blackHole);
            }
        };
    }
}
