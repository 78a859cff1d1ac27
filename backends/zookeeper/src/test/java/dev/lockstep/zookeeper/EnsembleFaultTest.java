package dev.lockstep.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.servers.ServerGroup;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.ZooKeeperServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Locks while servers of an ensemble of three fail. */
@Tag("full")
@Timeout(120)
class EnsembleFaultTest {
    private static final Duration TTL = Duration.ofSeconds(10);

    private ServerGroup<ZooKeeperServer> ensemble;

    @BeforeEach
    void startServers() {
        ensemble = Servers.require(() -> ZooKeeperServer.builder().startEnsemble(3));
    }

    @AfterEach
    void stopServers() {
        ensemble.close();
    }

    private LockClient connect(String servers, String name) {
        return LockClient.builder()
                .url("zookeeper://" + servers)
                .clientName(name)
                .ttl(TTL)
                .retryBackoff(Duration.ofMillis(10), Duration.ofMillis(100))
                .connect();
    }

    private ZooKeeperServer leader() {
        return ensemble.find(server -> server.mode().equals("leader"));
    }

    private ZooKeeperServer follower() {
        return ensemble.find(server -> server.mode().equals("follower"));
    }

    private static Lease acquire(LockClient client) {
        Lease[] lease = new Lease[1];
        Awaitility.await()
                .pollInSameThread()
                .atMost(Duration.ofSeconds(40))
                .ignoreException(LockUnavailableException.class)
                .until(() -> {
                    lease[0] = client.lock("x").tryAcquire(TTL).orElseThrow();
                    return true;
                });
        return lease[0];
    }

    /** The first holder keeps its lock or is notified of the loss; in either case the next one has a higher token. */
    private void survives(Runnable fault) throws Exception {
        try (LockClient client = connect(ensemble.addresses(), "client");
                LockClient rival = connect(ensemble.addresses(), "rival")) {
            Lease held = client.lock("x").acquireAsync().get();
            long token = held.token();
            CompletableFuture<Lease> waiting = rival.lock("x").acquireAsync();
            fault.run();
            // No ttl has passed: what was held still is.
            assertThat(held.isValid()).isTrue();
            assertThat(waiting).isNotDone();
            Awaitility.await()
                    .atMost(TTL.multipliedBy(2))
                    .pollDelay(TTL.dividedBy(2))
                    .until(() -> answers(client));
            assertThat(held.isValid()).isTrue();
            held.close();
            Lease next = waiting.isCompletedExceptionally()
                    ? acquire(rival)
                    : waiting.handle((lease, error) -> error == null ? lease : acquire(rival))
                            .get(40, TimeUnit.SECONDS);
            assertThat(next.token()).isGreaterThan(token);
            next.close();
        }
    }

    private static boolean answers(LockClient client) {
        try {
            client.inspect("x");
            return true;
        } catch (LockUnavailableException e) {
            return false;
        }
    }

    @Test
    void aKilledLeaderCostsNoLock() throws Exception {
        survives(() -> leader().kill());
    }

    @Test
    void aKilledMinorityCostsNoLock() throws Exception {
        survives(() -> follower().kill());
    }

    @Test
    void aServerThatFallsSilentCostsNoLock() throws Exception {
        survives(() -> follower().pause());
    }

    @Test
    void withoutAMajorityNothingIsGrantedUntilItIsBack() throws Exception {
        try (LockClient client = connect(ensemble.addresses(), "client");
                LockClient rival = connect(ensemble.addresses(), "rival")) {
            Lease held = client.lock("x").acquireAsync().get();
            long token = held.token();
            List<ZooKeeperServer> majority = List.of(leader(), follower());
            majority.forEach(ZooKeeperServer::kill);
            assertThatThrownBy(() -> rival.lock("x").tryAcquire(Duration.ofSeconds(2)))
                    .isInstanceOf(LockUnavailableException.class);
            assertThatThrownBy(() -> rival.lock("other").tryLock()).isInstanceOf(LockUnavailableException.class);
            // Nobody renews it: the holder knows when its validity ends.
            Awaitility.await().atMost(TTL.plusSeconds(2)).until(() -> !held.isValid());
            majority.forEach(ZooKeeperServer::start);
            Lease next = acquire(rival);
            assertThat(held.isValid()).isFalse();
            assertThat(next.token()).isGreaterThan(token);
            next.close();
            Lease again = acquire(client);
            again.close();
        }
    }
}
