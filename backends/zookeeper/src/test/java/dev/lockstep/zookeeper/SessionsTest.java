package dev.lockstep.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockLostException;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.ZooKeeperServer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Several sessions of one client: when they are opened and closed, and that each lives and dies alone. */
@Tag("full")
@Timeout(60)
class SessionsTest {
    /** So many nodes with the longest names do not fit into two sessions. */
    private static final int MANY = 400;

    /** So long that no session ends by itself, however busy the machine is. */
    private static final Duration TTL = Duration.ofSeconds(30);

    /** So short that a test can wait until each session must have been renewed. */
    private static final Duration SHORT_TTL = Duration.ofSeconds(4);

    private static final Duration SOON = Duration.ofSeconds(20);

    private ZooKeeperServer server;
    private LockClient client;
    private final Deque<ZooKeeperBackend> backends = new ArrayDeque<>();

    @BeforeEach
    void open() {
        open(0, TTL);
    }

    private void open(int mostConnections, Duration ttl) {
        server = Servers.require(() -> ZooKeeperServer.builder()
                .setting("maxClientCnxns", Integer.toString(mostConnections))
                .start());
        client = LockClient.builder()
                .ttl(ttl)
                .requestTimeout(Duration.ofSeconds(5))
                .backend(context -> {
                    backends.push((ZooKeeperBackend)
                            ZooKeeperEngine.at(server.address()).open(context));
                    return backends.element();
                })
                .connect();
    }

    private ZooKeeperBackend backend() {
        return backends.element();
    }

    @AfterEach
    void close() {
        client.close();
        server.close();
    }

    /** 512 bytes, each of which is three in a node's name. */
    private static String longName(int number) {
        return " ".repeat(506) + String.format("%06d", number);
    }

    private List<Lease> acquireMany() throws Exception {
        List<CompletableFuture<Lease>> asking = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            asking.add(client.lock(longName(i)).acquireAsync());
        }
        List<Lease> held = new ArrayList<>();
        for (CompletableFuture<Lease> next : asking) {
            held.add(next.get(20, TimeUnit.SECONDS));
        }
        return held;
    }

    /** For each session with nodes: how long its closing transaction would be. */
    private Collection<Integer> lengths() throws Exception {
        Map<Long, Integer> lengths = new TreeMap<>();
        String namespace = new Keys("lockstep").namespacePath();
        try (RawClient operator = new RawClient(server.address())) {
            for (String lock : operator.children(namespace)) {
                for (String node : operator.children(namespace + "/" + lock)) {
                    String path = namespace + "/" + lock + "/" + node;
                    lengths.merge(operator.stat(path).getEphemeralOwner(), path.length() + Integer.BYTES, Integer::sum);
                }
            }
        }
        return lengths.values();
    }

    private Set<Long> ids() {
        return backend().sessions().connected().stream().map(Session::id).collect(Collectors.toSet());
    }

    @Test
    void nodesAreSpreadOverSessionsThatAreClosedWhenTheyAreEmpty() throws Exception {
        close();
        open(0, SHORT_TTL);
        client.lock("x").lock();
        client.lock("x").unlock();
        assertThat(ids()).hasSize(1);
        List<Lease> held = acquireMany();
        assertThat(ids()).hasSizeGreaterThan(2);
        assertThat(lengths()).hasSizeGreaterThan(2).allMatch(length -> length <= 256 * 1024);
        TimeUnit.MILLISECONDS.sleep(SHORT_TTL.multipliedBy(2).toMillis()); // each session has to be renewed
        assertThat(held).allMatch(Lease::isValid);
        for (Lease lease : held) {
            lease.close();
        }
        Awaitility.await().atMost(SOON).until(() -> ids().size() == 1);
        Awaitility.await().atMost(SOON).until(() -> server.metric("zk_global_sessions") == 1);
        client.lock("x").lock();
        client.lock("x").unlock();
    }

    @Test
    void aSessionThatEndsTakesOnlyItsOwnGrants() throws Exception {
        List<Lease> held = acquireMany();
        int before = ids().size();
        Session extra = backend().sessions().connected().get(1);
        int its = extra.grants().size();
        ZooKeeperFixture.closeSession(extra.handle(), server.address());
        Awaitility.await()
                .atMost(SOON)
                .until(() -> held.stream().filter(lease -> !lease.isValid()).count() == its);
        assertThat(its).isPositive();
        Awaitility.await().atMost(SOON).until(() -> ids().size() == before - 1);
        int lost = 0;
        for (Lease lease : held) {
            if (lease.isValid()) {
                lease.close();
            } else {
                lost++;
                assertThatThrownBy(lease::close).isInstanceOf(LockLostException.class);
            }
        }
        assertThat(lost).isEqualTo(its);
        for (Lease lease : acquireMany()) {
            lease.close();
        }
    }

    @Test
    void claimsOfASessionThatEndsAskInAnother() throws Exception {
        try (LockClient rival =
                LockClient.builder().url("zookeeper://" + server.address()).connect()) {
            Lease theirs = rival.lock("wanted").acquireAsync().get();
            List<Lease> held = acquireMany();
            CompletableFuture<Lease> waiting = client.lock("wanted").acquireAsync();
            Awaitility.await()
                    .atMost(SOON)
                    .until(() -> rival.inspect("wanted").waiters().size() == 1);
            List<Session> all = backend().sessions().connected();
            ZooKeeperFixture.closeSession(all.get(all.size() - 1).handle(), server.address());
            ZooKeeperFixture.closeSession(all.get(0).handle(), server.address());
            Awaitility.await().atMost(SOON).until(() -> ids().size() == all.size() - 1);
            theirs.close();
            waiting.get(20, TimeUnit.SECONDS).close();
            held.forEach(Lease::closeAsync);
        }
    }

    @Test
    void aSessionThatIsNotAdmittedFailsItsClaims() throws Exception {
        close();
        open(1, TTL);
        List<CompletableFuture<Lease>> asking = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            asking.add(client.lock(longName(i)).acquireAsync());
        }
        assertThatThrownBy(() -> asking.get(MANY - 1).get(20, TimeUnit.SECONDS))
                .hasCauseInstanceOf(LockUnavailableException.class)
                .hasMessageContaining(server.address())
                .hasMessageContaining("maxClientCnxns");
        assertThat(asking.get(0).get().isValid()).isTrue();
        client.lock("y").lock();
        client.lock("y").unlock();
    }
}
