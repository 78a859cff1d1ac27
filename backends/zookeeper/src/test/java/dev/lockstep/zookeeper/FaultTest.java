package dev.lockstep.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockLostException;
import dev.lockstep.LossReason;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.TcpProxy;
import dev.lockstep.servers.ZooKeeperServer;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Outcome;
import java.lang.reflect.Field;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Faults that only ZooKeeper has. Faults of all engines are in the contract. */
@Timeout(120)
class FaultTest {
    private static final Duration TTL = Duration.ofSeconds(60);
    private static final Duration SOON = TTL.dividedBy(3); // so that no ttl helps
    private static ZooKeeperServer server;
    private static RawClient operator;
    private TcpProxy proxy;
    private LockClient client;
    private LockClient rival;
    private final Deque<ZooKeeperBackend> backends = new ArrayDeque<>();
    private String namespace;
    private Duration ttl = TTL;

    @BeforeAll
    static void startServer() throws Exception {
        server = Servers.require(() -> ZooKeeperServer.builder()
                .systemProperty("znode.container.checkIntervalMs", "1000") // idle locks are removed while tests run
                .start());
        operator = new RawClient(server.address());
    }

    @AfterAll
    static void stopServer() throws Exception {
        operator.close();
        server.close();
    }

    @BeforeEach
    void openClients() {
        proxy = TcpProxy.to(server);
        namespace = "faults-" + System.nanoTime();
        open("");
    }

    private void open(String options) {
        client = connect("client", proxy.port(), options);
        rival = connect("rival", server.port(), options);
    }

    private LockClient connect(String name, int port, String options) {
        return LockClient.builder()
                .namespace(namespace)
                .clientName(name)
                .ttl(ttl)
                .requestTimeout(Duration.ofSeconds(20))
                .retryBackoff(Duration.ofMillis(10), Duration.ofMillis(50))
                .backend(context -> {
                    LockBackend opened =
                            Url.parse("zookeeper://127.0.0.1:" + port + options).open(context);
                    if (name.equals("client")) {
                        backends.push((ZooKeeperBackend) opened);
                    }
                    return opened;
                })
                .connect();
    }

    @AfterEach
    void closeClients() {
        client.close();
        rival.close();
        proxy.close();
    }

    private String lockPath() {
        return new Keys(namespace).lockPath("x");
    }

    private List<String> nodes() throws Exception {
        return operator.children(lockPath());
    }

    private void awaitNodes(int count) {
        Awaitility.await().atMost(SOON).until(() -> nodes().size() == count);
    }

    @Test
    void aFirstLookWhoseAnswerIsLostIsRepeated() throws Exception {
        operator.create("/below-" + namespace, "", CreateMode.PERSISTENT);
        CompletableFuture<Void> lost = proxy.dropReplyTo("/below", Duration.ofMillis(50));
        connect("late", proxy.port(), "/below-" + namespace).close();
        lost.get(20, TimeUnit.SECONDS);
    }

    @Test
    void aCreateWhoseAnswerIsLostIsFoundAndNotRepeated() throws Exception {
        CompletableFuture<Void> lost = proxy.dropReplyTo("/w:", Duration.ofMillis(50));
        // The first create finds no parent; the one that counts is the second.
        operator.create(lockPath(), "", CreateMode.CONTAINER);
        Lease lease = client.lock("x").acquire();
        lost.get(20, TimeUnit.SECONDS);
        assertThat(nodes()).hasSize(1);
        assertThat(operator.stat(lockPath()).getCversion()).isEqualTo(1);
        assertThat(rival.lock("x").tryLock()).isFalse();
        lease.close();
        assertThat(nodes()).isEmpty();
    }

    @Test
    void aPlainCreateWhoseAnswerIsLostIsFound() throws Exception {
        closeClients();
        proxy = TcpProxy.to(server);
        open("?queue=off");
        client.lock("x").lock();
        client.lock("x").unlock();
        CompletableFuture<Void> lost = proxy.dropReplyTo("thread=", Duration.ofMillis(50));
        Lease lease = client.lock("x").acquire();
        lost.get(20, TimeUnit.SECONDS);
        assertThat(rival.lock("x").tryLock()).isFalse();
        lease.close();
        assertThat(operator.stat(lockPath())).isNull();
    }

    @Test
    void aDeleteWhoseAnswerIsLostIsRepeatedUntilItIsGone() throws Exception {
        Lease lease = client.lock("x").acquire();
        CompletableFuture<Void> lost = proxy.dropReplyTo("/w:", Duration.ofMillis(50));
        lease.close();
        lost.get(20, TimeUnit.SECONDS);
        assertThat(nodes()).isEmpty();
    }

    /** The request is lost, not the answer: the node is there until the delete is sent again. */
    @Test
    void aDeleteThatDoesNotArriveIsSentAgainUntilTheNodeIsGone() throws Exception {
        Lease lease = client.lock("x").acquire();
        CompletableFuture<Lease> next = rival.lock("x").acquireAsync();
        proxy.stall(TcpProxy.Direction.REQUESTS);
        long before = proxy.bytes(TcpProxy.Direction.REQUESTS);
        CompletableFuture<Void> closing = lease.closeAsync();
        Awaitility.await().atMost(SOON).until(() -> proxy.bytes(TcpProxy.Direction.REQUESTS) > before);
        proxy.cut();
        assertThat(rival.inspect("x").holders()).hasSize(1);
        assertThat(closing).isNotDone();
        assertThat(next).isNotDone();
        proxy.heal();
        next.get(20, TimeUnit.SECONDS).close();
        closing.get(20, TimeUnit.SECONDS);
        assertThat(rival.inspect("x").holders()).isEmpty();
    }

    @Test
    void aWithdrawnClaimWhoseCreateWasNotAnsweredIsCleanedUp() throws Exception {
        Lease held = rival.lock("x").acquire();
        proxy.dropReplies();
        CompletableFuture<Lease> waiting = client.lock("x").acquireAsync();
        awaitNodes(2);
        waiting.cancel(true);
        assertThat(nodes()).hasSize(2);
        proxy.heal();
        awaitNodes(1);
        held.close();
    }

    @Test
    void aNodeOfAnotherSessionIsNotAdopted() throws Exception {
        String claimId = "abcdefghijklmnopqrstuv.1.1";
        proxy.cut();
        Claim claim = backends.element().submit(new TestClaim("x", claimId));
        String dying = operator.create(
                lockPath() + "/" + QueueNode.prefix(ClaimKind.of(new TestClaim("x", "")), claimId + ".1"),
                "",
                CreateMode.EPHEMERAL_SEQUENTIAL);
        proxy.heal();
        awaitNodes(2);
        CompletableFuture<Outcome> outcome = claim.outcome().toCompletableFuture();
        assertThat(outcome).isNotDone();
        operator.delete(dying);
        assertThat(outcome.get(20, TimeUnit.SECONDS)).isInstanceOf(Outcome.Granted.class);
        claim.withdraw(Duration.ZERO).toCompletableFuture().get(20, TimeUnit.SECONDS);
        assertThat(nodes()).isEmpty();
    }

    /** The connection stands, so that nothing else makes the waiter look. */
    @Tag("full")
    @ParameterizedTest
    @ValueSource(strings = {"", "?queue=off"})
    void aWaitEndsWithoutAnEvent(String options) throws Exception {
        closeClients();
        proxy = TcpProxy.to(server);
        ttl = Duration.ofSeconds(6);
        open(options);
        Lease held = rival.lock("x").acquire();
        CompletableFuture<Lease> waiting = client.lock("x").acquireAsync();
        Field field = Watches.class.getDeclaredField("listeners");
        field.setAccessible(true);
        Map<?, ?> listeners = (Map<?, ?>) field.get(backends.element().session().watches());
        // Its own node and the one before it, or the lock's only one.
        Awaitility.await().atMost(SOON).until(() -> listeners.size() == (options.isEmpty() ? 2 : 1));
        assertThat(client.lock("x").tryLock()).isFalse(); // a round trip later, it waits
        listeners.clear();
        held.close();
        waiting.get(20, TimeUnit.SECONDS).close();
    }

    @Test
    void lateEventsOfAnOldSessionAreIgnored() throws Exception {
        Lease held = rival.lock("x").acquire();
        CompletableFuture<Lease> waiting = client.lock("x").acquireAsync();
        awaitNodes(2);
        ZooKeeperBackend backend = backends.element();
        Session old = backend.session();
        String holder =
                lockPath() + "/" + QueueNode.queue(nodes(), Map.of()).get(0).name();
        // As by the server: the session is closed with its id and password.
        ZooKeeperFixture.closeSession(old.handle(), server.address());
        Awaitility.await().atMost(SOON).until(() -> backend.session() != old);
        awaitNodes(2);
        assertThat(backend.session().id()).isNotEqualTo(old.id());
        old.process(new WatchedEvent(EventType.NodeDeleted, KeeperState.SyncConnected, holder));
        old.process(new WatchedEvent(EventType.NodeChildrenChanged, KeeperState.SyncConnected, lockPath()));
        old.process(new WatchedEvent(EventType.None, KeeperState.Expired, null));
        assertThat(rival.inspect("x").waiters()).hasSize(1);
        assertThat(waiting).isNotDone();
        held.close();
        waiting.get(20, TimeUnit.SECONDS).close();
    }

    /** Its locks are lost before the events that are still to come, and these events do not end its next holds. */
    @Test
    void aHolderInAnOldSessionIsNotifiedOfItsLossBeforeTheNextSessionBegins() throws Exception {
        Queue<LossReason> reasons = new ConcurrentLinkedQueue<>();
        Lease lost = client.lock("x").acquireAsync().get();
        lost.onLost(reasons::add);
        long token = lost.token();
        String node = lockPath() + "/" + nodes().get(0);
        ZooKeeperBackend backend = backends.element();
        Session old = backend.session();
        ZooKeeperFixture.closeSession(old.handle(), server.address());
        Awaitility.await().atMost(SOON).until(() -> backend.session() != old);
        assertThat(lost.isValid()).isFalse();
        Lease fresh = client.lock("x").acquireAsync().get(20, TimeUnit.SECONDS);
        Queue<LossReason> ofFresh = new ConcurrentLinkedQueue<>();
        fresh.onLost(ofFresh::add);
        old.process(new WatchedEvent(EventType.NodeDeleted, KeeperState.SyncConnected, node));
        old.process(new WatchedEvent(EventType.None, KeeperState.SyncConnected, null));
        old.process(new WatchedEvent(EventType.None, KeeperState.Expired, null));
        Awaitility.await().atMost(SOON).until(() -> !reasons.isEmpty());
        assertThat(reasons).containsExactly(LossReason.SESSION_ENDED);
        assertThatThrownBy(lost::close).isInstanceOf(LockLostException.class);
        assertThat(fresh.token()).isGreaterThan(token);
        assertThat(fresh.isValid()).isTrue();
        assertThat(rival.lock("x").tryLock()).isFalse();
        fresh.close();
        assertThat(ofFresh).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "?queue=off"})
    void aHeldNodeThatAnOperatorDeletesIsLostAtOnce(String options) throws Exception {
        closeClients();
        proxy = TcpProxy.to(server);
        open(options);
        Queue<LossReason> reasons = new ConcurrentLinkedQueue<>();
        Lease lease = client.lock("x").acquire();
        lease.onLost(reasons::add);
        operator.delete(options.isEmpty() ? lockPath() + "/" + nodes().get(0) : lockPath());
        Awaitility.await().atMost(SOON).until(() -> !reasons.isEmpty());
        assertThat(reasons).containsExactly(LossReason.REVOKED);
        assertThatThrownBy(lease::close).isInstanceOf(LockLostException.class);
        assertThat(rival.lock("x").tryLock()).isTrue();
        rival.lock("x").unlock();
    }

    /** The first use of a name takes two tries; the second begins when the first is answered, on another thread. */
    @ParameterizedTest
    @ValueSource(strings = {"", "?queue=off"})
    void aCallerThatIsSlowToAskIsGrantedOnce(String options) throws Exception {
        closeClients();
        proxy = TcpProxy.to(server);
        rival = connect("rival", server.port(), options);
        SlowCaller clock = new SlowCaller(() -> operator.stat(lockPath()) != null);
        client = LockClient.builder()
                .namespace(namespace)
                .requestTimeout(Duration.ofSeconds(20))
                .backend(context -> {
                    ZooKeeperBackend opened =
                            (ZooKeeperBackend) Url.parse("zookeeper://127.0.0.1:" + proxy.port() + options)
                                    .open(clock.in(context));
                    backends.push(opened);
                    return opened;
                })
                .connect();
        clock.slowDown(Thread.currentThread());
        Lease lease = client.lock("x").acquire();
        assertThat(clock.wasSlow()).isTrue();
        // The late request of the first try takes effect before this is answered.
        assertThat(client.inspect("x").holders()).hasSize(1);
        assertThat(backends.element().session().grants()).hasSize(1);
        Queue<LossReason> reasons = new ConcurrentLinkedQueue<>();
        lease.onLost(reasons::add);
        assertThat(rival.forceRelease("x")).isTrue();
        Awaitility.await().atMost(SOON).until(() -> !reasons.isEmpty());
        assertThatThrownBy(lease::close).isInstanceOf(LockLostException.class);
    }

    @Test
    void aWaiterWhoseNodeAnOperatorDeletesQueuesAgain() throws Exception {
        Lease held = rival.lock("x").acquire();
        CompletableFuture<Lease> waiting = client.lock("x").acquireAsync();
        awaitNodes(2);
        String last = QueueNode.queue(nodes(), Map.of()).get(1).name();
        operator.delete(lockPath() + "/" + last);
        Awaitility.await().atMost(SOON).until(() -> nodes().size() == 2 && !nodes().contains(last));
        assertThat(waiting).isNotDone();
        held.close();
        waiting.get(20, TimeUnit.SECONDS).close();
    }

    @Test
    void aHeldNodeThatGoesWhileItsClientIsCutOffIsLostWhenItIsBack() throws Exception {
        Lease lease = client.lock("x").acquire();
        proxy.cut();
        operator.delete(lockPath() + "/" + nodes().get(0));
        assertThat(lease.isValid()).isTrue();
        proxy.heal();
        Awaitility.await().atMost(SOON).until(() -> !lease.isValid());
        assertThatThrownBy(lease::close).isInstanceOf(LockLostException.class);
    }

    @Test
    void anUnusedLockIsRemovedAndCreatedAgain() throws Exception {
        Lease first = client.lock("x").acquire();
        long token = first.token();
        first.close();
        Awaitility.await().atMost(SOON).until(() -> operator.stat(lockPath()) == null);
        try (Lease next = client.lock("x").acquire()) {
            assertThat(nodes()).hasSize(1);
            assertThat(next.token()).isGreaterThan(token); // though the server counts the nodes from 0 again
        }
    }

    /** The server may count its timeout from the moment at which the client asked for the session. */
    @Test
    void aSessionThatIsConfirmedLateIsValidNoLonger() throws Exception {
        try (TcpProxy slow = TcpProxy.to(server)) {
            slow.stall(TcpProxy.Direction.REPLIES);
            CompletableFuture<LockClient> connecting =
                    CompletableFuture.supplyAsync(() -> connect("late", slow.port(), ""));
            Awaitility.await().atMost(SOON).until(() -> slow.bytes(TcpProxy.Direction.REQUESTS) > 0);
            long asked = System.nanoTime();
            TimeUnit.SECONDS.sleep(1); // longer than the margin for clock drift
            slow.heal();
            try (LockClient late = connecting.get(20, TimeUnit.SECONDS);
                    Lease lease = late.lock("x").acquire()) {
                long validUntil = System.nanoTime() + lease.remaining().toNanos();
                assertThat(validUntil - asked).isLessThanOrEqualTo(TTL.toNanos());
            }
        }
    }

    @Test
    void aPredecessorThatGoesWhileItsWaiterIsCutOffIsNoticed() throws Exception {
        Lease held = rival.lock("x").acquire();
        CompletableFuture<Lease> waiting = client.lock("x").acquireAsync();
        awaitNodes(2);
        proxy.cut();
        held.close();
        proxy.heal();
        waiting.get(20, TimeUnit.SECONDS).close();
    }
}
