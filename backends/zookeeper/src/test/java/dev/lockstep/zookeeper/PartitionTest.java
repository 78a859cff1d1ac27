package dev.lockstep.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockLostException;
import dev.lockstep.servers.ProxiedLinks;
import dev.lockstep.servers.ServerGroup;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.TcpProxy;
import dev.lockstep.servers.ZooKeeperServer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A follower that is cut off from its leader keeps answering its clients for a while, as if nothing had happened. But
 * the leader no longer hears from their sessions, and ends them.
 */
@Tag("full")
@Timeout(120)
class PartitionTest {
    private static final Duration TTL = Duration.ofSeconds(4);
    private static final int ROUNDS = 2;

    private final ProxiedLinks links = new ProxiedLinks();
    private ServerGroup<ZooKeeperServer> ensemble;

    @BeforeEach
    void startServers() {
        ensemble = Servers.require(() -> ZooKeeperServer.builder()
                .setting("syncLimit", "300") // a minute in which the follower does not notice
                .startEnsemble(3, links));
    }

    @AfterEach
    void stopServers() {
        ensemble.close();
        links.close();
    }

    private static LockClient connect(ZooKeeperServer server, String name) {
        return LockClient.builder()
                .url("zookeeper://" + server.address())
                .clientName(name)
                .ttl(TTL)
                .requestTimeout(Duration.ofSeconds(20))
                .retryBackoff(Duration.ofMillis(10), Duration.ofMillis(100))
                .connect();
    }

    @Test
    void aHolderOnAFollowerThatIsCutOffIsNotValidWhenTheNextHolderStarts() throws Exception {
        ZooKeeperServer leader = ensemble.find(server -> server.mode().equals("leader"));
        ZooKeeperServer follower = ensemble.find(server -> server.mode().equals("follower"));
        TcpProxy link = links.between(
                ensemble.servers().indexOf(follower), ensemble.servers().indexOf(leader));
        for (int round = 0; round < ROUNDS; round++) {
            try (LockClient holder = connect(follower, "holder");
                    LockClient rival = connect(leader, "rival");
                    RawClient witness = new RawClient(follower.address())) {
                Lease held = holder.lock("x").acquireAsync().get();
                CompletableFuture<Boolean> overlap =
                        rival.lock("x").acquireAsync().thenApply(lease -> held.isValid());
                Awaitility.await()
                        .atMost(Duration.ofSeconds(20))
                        .until(() -> rival.inspect("x").waiters().size() == 1);
                // At any time between two heartbeats.
                TimeUnit.MILLISECONDS.sleep(ThreadLocalRandom.current().nextLong(TTL.toMillis() / 3));
                assertThat(held.isValid()).isTrue();
                link.blackHole();
                assertThat(overlap.get(40, TimeUnit.SECONDS)).isFalse();
                // A client that takes the follower's answers for the leader's would still hold.
                assertThat(witness.stat("/")).isNotNull();
                assertThatThrownBy(held::close).isInstanceOf(LockLostException.class);
                link.heal();
                Awaitility.await()
                        .atMost(Duration.ofSeconds(40))
                        .ignoreExceptions()
                        .until(() -> holder.inspect("x").waiters().isEmpty());
            }
        }
    }
}
