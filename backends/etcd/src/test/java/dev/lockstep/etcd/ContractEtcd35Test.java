package dev.lockstep.etcd;

import dev.lockstep.servers.EtcdServer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The contract on a single member of etcd 3.5. */
@Tag("soak")
class ContractEtcd35Test extends SingleMemberContract {
    @BeforeAll
    static void startServer() {
        startServer(EtcdServer.builder().version35());
    }
}
