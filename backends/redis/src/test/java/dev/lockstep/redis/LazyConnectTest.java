package dev.lockstep.redis;

import dev.lockstep.LockClient;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.tck.LazyConnectContract;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;

@Tag("full")
class LazyConnectTest extends LazyConnectContract {
    private RedisServer server;

    @BeforeEach
    void openServer() {
        server = Servers.require(() -> RedisServer.builder().start());
    }

    @AfterEach
    void closeServer() {
        server.close();
    }

    @Override
    protected LockClient.Builder client() {
        return LockClient.builder().url(server.url());
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
