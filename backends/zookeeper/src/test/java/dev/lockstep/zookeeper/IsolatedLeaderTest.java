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
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A leader that is cut off from its followers continues to answer reads, {@code sync} and reconnecting clients for its sync
 * limit. The followers may leave it earlier, here because they restart, and the new leader then ends the holder's session.
 */
@Tag("full")
@Timeout(120)
class IsolatedLeaderTest {
    private static final Duration TICK = Duration.ofSeconds(1);
    private static final Duration SHORTEST_TTL = TICK.multipliedBy(2); // the servers accept no shorter one

    /** On an idle machine it takes 20 s until the restarted followers have a leader and the holder's session has ended. */
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final ProxiedLinks links = new ProxiedLinks();
    private ServerGroup<ZooKeeperServer> ensemble;

    @BeforeEach
    void startServers() {
        ensemble = Servers.require(() -> ZooKeeperServer.builder()
                .setting("tickTime", Long.toString(TICK.toMillis()))
                .setting("syncLimit", "100") // the leader does not notice during the test
                .startEnsemble(3, links));
    }

    @AfterEach
    void stopServers() {
        ensemble.close();
        links.close();
    }

    private static LockClient connect(String servers, String name, Duration ttl) {
        return LockClient.builder()
                .url("zookeeper://" + servers)
                .clientName(name)
                .ttl(ttl)
                .requestTimeout(PATIENCE)
                .retryBackoff(Duration.ofMillis(10), Duration.ofMillis(100))
                .connect();
    }

    @ParameterizedTest(name = "reconnects: {0}")
    @ValueSource(booleans = {false, true})
    void aHolderOnAnIsolatedLeaderIsNotValidWhenTheNextHolderStarts(boolean reconnects) throws Exception {
        ZooKeeperServer leader = ensemble.find(server -> server.mode().equals("leader"));
        List<ZooKeeperServer> followers =
                ensemble.servers().stream().filter(server -> server != leader).toList();
        String others = followers.get(0).address() + "," + followers.get(1).address();
        try (TcpProxy proxy = TcpProxy.to(leader);
                LockClient holder = connect("127.0.0.1:" + proxy.port(), "holder", SHORTEST_TTL);
                LockClient rival = connect(others, "rival", Duration.ofSeconds(20));
                RawClient witness = new RawClient(leader.address())) {
            Lease held = holder.lock("x").acquireAsync().get();
            CompletableFuture<Boolean> overlap = rival.lock("x").acquireAsync().thenApply(lease -> held.isValid());
            Awaitility.await()
                    .atMost(Duration.ofSeconds(20))
                    .until(() -> rival.inspect("x").waiters().size() == 1);
            assertThat(held.isValid()).isTrue();
            links.cutOff(ensemble.servers().indexOf(leader));
            followers.forEach(ZooKeeperServer::kill);
            // Neither is ready without the other.
            List<CompletableFuture<Void>> starts = followers.stream()
                    .map(server -> CompletableFuture.runAsync(server::start))
                    .toList();
            while (!overlap.isDone() && reconnects) { // before the hold has expired, too
                proxy.resetConnections();
                TimeUnit.MILLISECONDS.sleep(500);
            }
            starts.forEach(CompletableFuture::join);
            assertThat(overlap.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isFalse();
            assertThat(witness.stat("/")).as("the old leader still answers").isNotNull();
            assertThatThrownBy(held::close).isInstanceOf(LockLostException.class);
        }
    }
}
