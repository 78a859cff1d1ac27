package dev.lockstep.etcd;

import dev.lockstep.servers.EtcdServer;
import dev.lockstep.servers.ServerGroup;
import dev.lockstep.servers.Servers;
import dev.lockstep.tck.BackendFixture;
import dev.lockstep.tck.LockContract;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The contract on a cluster of three. */
@Tag("full")
class ContractClusterTest extends LockContract {
    private static ServerGroup<EtcdServer> cluster;

    @BeforeAll
    static void startCluster() {
        cluster = Servers.require(() -> EtcdServer.builder().startCluster(3));
    }

    @AfterAll
    static void stopCluster() {
        if (cluster != null) {
            cluster.close();
        }
    }

    @Override
    protected BackendFixture fixture() {
        return new EtcdFixture(cluster.servers());
    }
}
