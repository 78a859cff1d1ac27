package dev.lockstep.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockOptions;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.ZooKeeperServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.server.DataTree;
import org.apache.zookeeper.server.EphemeralType;
import org.apache.zookeeper.server.persistence.FileTxnSnapLog;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A lock that has been used two thousand million times, so that the server has no more numbers for its queue. */
@Tag("full")
@Timeout(60)
class CounterTest {
    private static final int CLAIMS = 8;

    @Test
    void theOrderOutlivesTheCounter() throws Exception {
        try (ZooKeeperServer server =
                Servers.require(() -> ZooKeeperServer.builder().start())) {
            server.stop();
            useUp(server.directory(), new Keys("counter").lockPath("x"));
            server.start();
            try (LockClient one = connect(server, "one");
                    LockClient two = connect(server, "two")) {
                List<CompletableFuture<Lease>> claims = new ArrayList<>();
                for (int i = 0; i < CLAIMS; i++) {
                    int waiting = i;
                    claims.add((i % 2 == 0 ? one : two)
                            .lock("x", LockOptions.defaults().fair())
                            .acquireAsync());
                    Awaitility.await()
                            .atMost(Duration.ofSeconds(20))
                            .until(() -> one.inspect("x").waiters().size() == waiting);
                }
                try (RawClient operator = new RawClient(server.address())) {
                    assertThat(operator.children(new Keys("counter").lockPath("x")))
                            .filteredOn(node -> node.endsWith(Integer.toString(Integer.MAX_VALUE)))
                            .hasSizeGreaterThan(CLAIMS / 2);
                }
                long last = 0;
                for (CompletableFuture<Lease> claim : claims) {
                    Lease lease = claim.get(20, TimeUnit.SECONDS);
                    assertThat(claims.stream().filter(CompletableFuture::isDone))
                            .hasSize(claims.indexOf(claim) + 1);
                    assertThat(lease.token()).isGreaterThan(last);
                    last = lease.token();
                    lease.close();
                }
            }
        }
    }

    private static LockClient connect(ZooKeeperServer server, String name) {
        return LockClient.builder()
                .url("zookeeper://" + server.address())
                .namespace("counter")
                .clientName(name)
                .connect();
    }

    /** Writes what the server would have on disk then. */
    private static void useUp(Path directory, String lockPath) throws Exception {
        try (Stream<Path> files = Files.walk(directory.resolve("version-2"))) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Files.delete(file);
            }
        }
        DataTree tree = new DataTree();
        byte[] nothing = {};
        make(tree, Keys.ROOT, nothing, 1, 1);
        make(tree, Keys.parent(lockPath), Format.data(), 1, 2);
        make(tree, lockPath, nothing, 1, 3);
        make(tree, lockPath + "/last", nothing, Integer.MAX_VALUE - 1, 4);
        tree.deleteNode(lockPath + "/last", 5);
        tree.lastProcessedZxid = 5;
        save(tree, directory);
    }

    private static void make(DataTree tree, String path, byte[] data, int parentsCounter, long transaction)
            throws Exception {
        tree.createNode(
                path,
                data,
                ZooDefs.Ids.OPEN_ACL_UNSAFE,
                EphemeralType.CONTAINER_EPHEMERAL_OWNER,
                parentsCounter,
                transaction,
                1);
    }

    private static void save(DataTree tree, Path directory) throws IOException {
        FileTxnSnapLog log = new FileTxnSnapLog(directory.toFile(), directory.toFile());
        log.save(tree, new ConcurrentHashMap<>(), false);
        log.close();
    }
}
