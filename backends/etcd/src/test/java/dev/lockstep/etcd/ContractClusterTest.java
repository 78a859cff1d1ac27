package dev.lockstep.etcd;

import dev.lockstep.servers.EtcdServer;
import dev.lockstep.servers.ServerGroup;
import dev.lockstep.servers.Servers;
import dev.lockstep.tck.BackendFixture;
import dev.lockstep.tck.LockContract;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The contract on a cluster of three. */
@Tag("full")
class ContractClusterTest extends LockContract {
    @AutoClose
    private static ServerGroup<EtcdServer> cluster;

    @BeforeAll
    static void startCluster() {
        cluster = Servers.require(() -> EtcdServer.builder().startCluster(3));
    }

    @Override
    protected BackendFixture fixture() {
        return new EtcdFixture(cluster.servers());
    }
}
