package dev.lockstep.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class ZooKeeperServerTest {
    @Test
    void standaloneServerKeepsItsDataOverARestartAndACrash() throws Exception {
        try (ZooKeeperServer server =
                Servers.require(() -> ZooKeeperServer.builder().start())) {
            assertThat(server.mode()).isEqualTo("standalone");
            long before = server.metric("zk_packets_received");
            try (ZooKeeper client = connect(server.address())) {
                client.create("/kept", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
                assertThat(client.getSessionTimeout()).isEqualTo(400);
                assertThat(server.metric("zk_packets_received")).isGreaterThan(before);
            }
            server.restart();
            server.kill();
            server.start();
            try (ZooKeeper client = connect(server.address())) {
                assertThat(client.exists("/kept", false)).isNotNull();
            }
        }
    }

    @Test
    void ensembleElectsAnotherLeaderWhenItsLeaderIsKilled() throws Exception {
        try (ServerGroup<ZooKeeperServer> ensemble =
                Servers.require(() -> ZooKeeperServer.builder().startEnsemble(3))) {
            ZooKeeperServer leader = ensemble.find(server -> server.mode().equals("leader"));
            try (ZooKeeper client = connect(ensemble.addresses())) {
                client.create("/kept", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            }
            leader.kill();
            await().atMost(Duration.ofSeconds(20))
                    .ignoreExceptions()
                    .until(() -> ensemble.find(server -> server.mode().equals("leader"))
                            .isAlive());
            try (ZooKeeper client = connect(ensemble.addresses())) {
                assertThat(client.exists("/kept", false)).isNotNull();
            }
            leader.start();
            assertThat(leader.mode()).isEqualTo("follower");
        }
    }

    private static ZooKeeper connect(String addresses) throws Exception {
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper client = new ZooKeeper(addresses, 300, event -> {
            if (event.getState() == KeeperState.SyncConnected) {
                connected.countDown();
            }
        });
        assertThat(connected.await(20, TimeUnit.SECONDS)).isTrue();
        return client;
    }
}
