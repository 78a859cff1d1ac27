package dev.lockstep.etcd;

import dev.lockstep.servers.EtcdServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.tck.BackendFixture;
import dev.lockstep.tck.LockContract;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;

/** The contract on a single member. */
abstract class SingleMemberContract extends LockContract {
    @AutoClose
    private static @Nullable EtcdServer server;

    /** Starts the member, or skips the class. */
    static void startServer(EtcdServer.Builder builder) {
        server = Servers.require(builder::start);
    }

    @Override
    protected BackendFixture fixture() {
        return new EtcdFixture(List.of(Objects.requireNonNull(server)));
    }
}
