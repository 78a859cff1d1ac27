package dev.lockstep.etcd;

import dev.lockstep.LockClient;
import dev.lockstep.servers.EtcdServer;
import dev.lockstep.servers.Servers;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

/** Tests on one member, which a class has for itself. */
abstract class SingleMemberTestCase extends EtcdTestCase {
    @AutoClose
    static EtcdServer server;

    Gateway gateway;

    @BeforeAll
    static void startServer() {
        server = Servers.require(() -> EtcdServer.builder().start());
        warmUp(server.address());
    }

    @BeforeEach
    void openGateway() {
        gateway = new Gateway(server);
    }

    LockClient connect() {
        return connect("etcd://" + server.address());
    }
}
