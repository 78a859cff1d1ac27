package dev.lockstep.etcd;

import dev.lockstep.servers.EtcdServer;
import org.junit.jupiter.api.BeforeAll;

/** The contract on a single member. */
class ContractEtcdTest extends SingleMemberContract {
    @BeforeAll
    static void startServer() {
        startServer(EtcdServer.builder());
    }
}
