package dev.lockstep.etcd;

import dev.lockstep.LockClient;
import dev.lockstep.servers.EtcdServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.tck.LazyConnectContract;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;

@Tag("full")
class LazyConnectTest extends LazyConnectContract {
    private EtcdServer server;

    @BeforeEach
    void openServer() {
        server = Servers.require(() -> EtcdServer.builder().start());
    }

    @AfterEach
    void closeServer() {
        server.close();
    }

    @Override
    protected LockClient.Builder client() {
        return LockClient.builder().url("etcd://" + server.address());
    }

    @Override
    protected void stopServer() {
        server.kill();
    }

    @Override
    protected void startServer() {
        server.start();
    }

    @Override
    protected int port() {
        return server.port();
    }
}
