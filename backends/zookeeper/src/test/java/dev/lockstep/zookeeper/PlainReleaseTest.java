package dev.lockstep.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockLostException;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.TcpProxy;
import dev.lockstep.servers.ZooKeeperServer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The node of a plain lock has the same name for every holder: a release must not delete another holder's node. */
@Timeout(60)
class PlainReleaseTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    @Test
    void aHolderUnawareOfItsLossDoesNotFreeTheNextHolder() throws Exception {
        try (ZooKeeperServer server =
                        Servers.require(() -> ZooKeeperServer.builder().start());
                TcpProxy proxy = TcpProxy.to(server);
                LockClient slow = connect("slow", proxy.port());
                LockClient rival = connect("rival", server.port())) {
            Lease taken = slow.lock("x").acquire();
            proxy.stall(TcpProxy.Direction.REPLIES);
            assertThat(rival.forceRelease("x")).isTrue();
            try (Lease next = rival.lock("x").acquire()) {
                CompletableFuture<Void> closing = taken.closeAsync().toCompletableFuture();
                TimeUnit.MILLISECONDS.sleep(500); // what was sent has arrived
                proxy.heal();
                assertThat(closing)
                        .failsWithin(PATIENCE)
                        .withThrowableThat()
                        .withCauseInstanceOf(LockLostException.class);
                assertThat(rival.inspect("x").holders()).hasSize(1);
                assertThat(next.isValid()).isTrue();
            }
        }
    }

    private static LockClient connect(String name, int port) {
        return LockClient.builder()
                .url("zookeeper://127.0.0.1:" + port + "?queue=off")
                .namespace("plain-release")
                .clientName(name)
                .requestTimeout(PATIENCE)
                .connect();
    }
}
