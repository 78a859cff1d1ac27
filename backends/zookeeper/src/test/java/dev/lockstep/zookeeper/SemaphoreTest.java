package dev.lockstep.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.DistributedSemaphore;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockMode;
import dev.lockstep.Permit;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.TcpProxy;
import dev.lockstep.servers.ZooKeeperServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.CreateMode;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Semaphores in the queue of ZooKeeper's nodes. Tests that are the same on all engines are in the contract. */
@Timeout(60)
class SemaphoreTest {
    private static ZooKeeperServer server;
    private static RawClient operator;
    private TcpProxy proxy;
    private LockClient client;
    private LockClient rival;
    private String namespace;

    @BeforeAll
    static void startServer() throws Exception {
        Awaitility.setDefaultTimeout(Duration.ofSeconds(20)); // a busy machine takes long
        server = Servers.require(() -> ZooKeeperServer.builder().start());
        operator = new RawClient(server.address());
    }

    @AfterAll
    static void stopServer() throws Exception {
        operator.close();
        server.close();
    }

    @BeforeEach
    void openClients() {
        namespace = "semaphores-" + System.nanoTime();
        proxy = TcpProxy.to(server);
        client = connect("client", proxy.port());
        rival = connect("rival", server.port());
    }

    private LockClient connect(String name, int port) {
        return LockClient.builder()
                .url("zookeeper://127.0.0.1:" + port)
                .namespace(namespace)
                .clientName(name)
                .ttl(Duration.ofSeconds(30))
                .requestTimeout(Duration.ofSeconds(20))
                .retryBackoff(Duration.ofMillis(10), Duration.ofMillis(50))
                .connect();
    }

    @AfterEach
    void closeClients() {
        client.close();
        rival.close();
        proxy.close();
    }

    private DistributedSemaphore semaphore(int permits) {
        return client.semaphore("x", permits);
    }

    private DistributedSemaphore rivals(int permits) {
        return rival.semaphore("x", permits);
    }

    private String lockPath() {
        return new Keys(namespace).lockPath("x");
    }

    private void awaitWaiters(int count) {
        Awaitility.await()
                .atMost(Duration.ofSeconds(20))
                .pollInterval(Duration.ofMillis(5))
                .until(() -> rival.inspect("x").waiters().size() == count);
    }

    /** A node of another client, such as a refused claim has for a moment. */
    private String makeNode(ClaimKind kind) throws Exception {
        return operator.create(
                lockPath() + "/" + QueueNode.prefix(kind, "another.1.1"), "", CreateMode.EPHEMERAL_SEQUENTIAL);
    }

    private static ClaimKind lock() {
        return ClaimKind.lock(LockMode.EXCLUSIVE, true);
    }

    @Test
    void aClaimThatAgreesWithTheFirstOneWaitsUntilAnotherKindIsGone() throws Exception {
        try (Permit first = semaphore(3).acquire()) {
            String node = makeNode(lock());
            CompletableFuture<Permit> second = rivals(3).acquireAsync();
            awaitWaiters(2);
            assertThat(semaphore(3).tryAcquire()).isEmpty();
            CompletableFuture<Permit> third = semaphore(3).acquireAsync();
            awaitWaiters(3);
            assertThatThrownBy(() -> rival.lock("x").tryLock()).isInstanceOf(LockConfigurationException.class);
            assertThat(second).isNotDone();
            operator.delete(node);
            second.get(20, TimeUnit.SECONDS).close();
            third.get(20, TimeUnit.SECONDS).close();
            assertThat(first.isValid()).isTrue();
        }
    }

    @Test
    void readersWaitUntilAPermitBeforeThemIsGone() throws Exception {
        rival.readWriteLock("x").readLock().lock();
        try {
            String node = makeNode(new ClaimKind(LockMode.SHARED, OptionalInt.of(2), 1, true));
            CompletableFuture<?> reader = client.readWriteLock("x").readLock().acquireAsync();
            awaitWaiters(2);
            operator.delete(node);
            reader.get(20, TimeUnit.SECONDS);
        } finally {
            rival.readWriteLock("x").readLock().unlock();
        }
    }

    /** The one behind it is woken by the node of the one before it, which does not go. */
    @Test
    void aWaiterIsServedThoughTheOneBeforeItWasGrantedWhileItsConnectionBroke() throws Exception {
        Permit one = rivals(2).acquire();
        Permit two = rivals(2).acquire();
        CompletableFuture<Permit> first = semaphore(2).acquireAsync();
        awaitWaiters(1);
        CompletableFuture<Permit> second = rivals(2).acquireAsync();
        awaitWaiters(2);
        proxy.cut();
        one.close();
        two.close();
        assertThat(second).isNotDone();
        proxy.heal();
        second.get(20, TimeUnit.SECONDS).close();
        first.get(20, TimeUnit.SECONDS).close();
    }

    @Test
    void aWaiterBehindABigClaimIsServedWhenThatGivesUp() throws Exception {
        try (Permit held = rivals(3).acquire(2)) {
            CompletableFuture<Boolean> big = new CompletableFuture<>();
            Thread thread = new Thread(() -> {
                try {
                    big.complete(
                            semaphore(3).tryAcquire(3, Duration.ofMillis(300)).isPresent());
                } catch (InterruptedException | RuntimeException e) {
                    big.completeExceptionally(e);
                }
            });
            thread.start();
            awaitWaiters(1);
            CompletableFuture<Permit> small = rivals(3).acquireAsync();
            awaitWaiters(2);
            assertThat(big.get(20, TimeUnit.SECONDS)).isFalse();
            small.get(20, TimeUnit.SECONDS).close();
            assertThat(held.isValid()).isTrue();
        }
    }

    @Test
    void slotsStayWithTheirPermitsUntilTheseEnd() throws Exception {
        Permit silent = semaphore(3).acquire();
        Permit second = rivals(3).acquire();
        assertThat(second.slot()).isZero();
        second.close();
        Permit third = rivals(3).acquire(2);
        assertThat(third.slots()).hasSize(2);
        assertThat(silent.slots()).hasSize(1).doesNotContainAnyElementsOf(third.slots());
        assertThat(third.slots()).isEqualTo(List.copyOf(third.slots()));
        silent.close();
        third.close();
        try (Permit all = semaphore(3).acquire(3)) {
            assertThat(all.slots()).containsExactly(0, 1, 2);
        }
    }

    @Test
    void aDeletedNodeOfAHolderIsALossAndThatOfAWaiterIsMadeAgain() throws Exception {
        Permit held = semaphore(2).acquire(2);
        CompletableFuture<Permit> waiting = rivals(2).acquireAsync();
        awaitWaiters(1);
        List<QueueNode> queue = QueueNode.queue(operator.children(lockPath()), Map.of());
        operator.delete(lockPath() + "/" + queue.get(1).name());
        awaitWaiters(1);
        operator.delete(lockPath() + "/" + queue.get(0).name());
        waiting.get(20, TimeUnit.SECONDS).close();
        Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> !held.isValid());
    }

    /** Claims of all sizes that wait, give up or do not wait: every waiter is served, and all permits are released. */
    @Test
    @Tag("full")
    void nobodyIsForgottenAmongMany() throws Exception {
        int limit = 4;
        AtomicInteger taken = new AtomicInteger();
        List<LockClient> clients = new ArrayList<>();
        List<CompletableFuture<Void>> workers = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            LockClient own = connect("worker-" + i, server.port());
            clients.add(own);
            workers.add(CompletableFuture.runAsync(
                    () -> work(own.semaphore("x", limit), limit, taken), task -> new Thread(task).start()));
        }
        for (CompletableFuture<Void> worker : workers) {
            worker.get(50, TimeUnit.SECONDS);
        }
        assertThat(semaphore(limit).availablePermits()).isEqualTo(limit);
        clients.forEach(LockClient::close);
    }

    private static void work(DistributedSemaphore semaphore, int limit, AtomicInteger taken) {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        for (int round = 0; round < 200; round++) {
            int count = random.nextInt(3) == 0 ? 1 + random.nextInt(limit) : 1;
            try {
                Optional<Permit> permit = switch (random.nextInt(4)) {
                    case 0 -> semaphore.tryAcquire(count, Duration.ofMillis(random.nextInt(5)));
                    case 1 -> semaphore.tryAcquire(count, Duration.ZERO);
                    default -> Optional.of(semaphore.acquire(count));
                };
                if (permit.isPresent()) {
                    assertThat(taken.addAndGet(count)).isLessThanOrEqualTo(limit);
                    taken.addAndGet(-count);
                    permit.get().close();
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
