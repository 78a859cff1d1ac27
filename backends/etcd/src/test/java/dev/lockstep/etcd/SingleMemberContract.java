package dev.lockstep.etcd;

import dev.lockstep.servers.EtcdServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.tck.BackendFixture;
import dev.lockstep.tck.LockContract;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;

/** The contract on a single member. */
abstract class SingleMemberContract extends LockContract {
    private static @Nullable EtcdServer server;

    /** Starts the member, or skips the class. */
    static void startServer(EtcdServer.Builder builder) {
        server = Servers.require(builder::start);
    }

    @AfterAll
    static void stopServer() {
        if (server != null) {
            server.close();
        }
    }

    @Override
    protected BackendFixture fixture() {
        return new EtcdFixture(List.of(Objects.requireNonNull(server)));
    }
}
