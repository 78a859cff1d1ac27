package dev.lockstep.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import dev.lockstep.LockObserver;
import dev.lockstep.LockPage;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.ZooKeeperServer;
import dev.lockstep.spi.Grant;
import dev.lockstep.spi.Outcome;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The operators' view of claims, waits and many locks. */
@Timeout(120)
class OperatorsTest {
    private static final String CLAIM = "abcdefghijklmnopqrstuv.";
    private static final LockInfo.Wait WAIT = LockInfo.Wait.of("other", LockMode.SHARED, "main-1", Instant.EPOCH, true);

    @AutoClose
    private static ZooKeeperServer server;

    private ZooKeeperBackend backend;
    private LockClient client;
    private String namespace;

    @BeforeAll
    static void startServer() {
        server = Servers.require(() -> ZooKeeperServer.builder().start());
    }

    @BeforeEach
    void open() {
        open("");
    }

    private void open(String options) {
        namespace = "operators-" + System.nanoTime();
        ZooKeeperBackend[] opened = new ZooKeeperBackend[1];
        client = LockClient.builder()
                .namespace(namespace)
                .ttl(Duration.ofSeconds(30))
                .requestTimeout(Duration.ofSeconds(20))
                .backend(context -> opened[0] = (ZooKeeperBackend)
                        Url.parse("zookeeper://" + server.address() + options).open(context))
                .connect();
        backend = opened[0];
    }

    @AfterEach
    void close() {
        client.close();
    }

    private static <T> T get(CompletionStage<T> answer) throws Exception {
        return answer.toCompletableFuture().get(20, TimeUnit.SECONDS);
    }

    private Grant grant(int number) throws Exception {
        Outcome outcome = get(backend.submit(new TestClaim("x", CLAIM + number)).outcome());
        return ((Outcome.Granted) outcome).grant();
    }

    private LockInfo.Entry holder() throws Exception {
        return get(backend.inspect("x")).holders().get(0);
    }

    @Test
    void claimsOfHoldersAndWaitersAreShown() throws Exception {
        Grant held = grant(1);
        CompletionStage<Outcome> second =
                backend.submit(new TestClaim("x", CLAIM + 2)).outcome();
        while (get(backend.inspect("x")).waiters().isEmpty()) {
            Thread.onSpinWait();
        }
        LockInfo info = get(backend.list("")).get(0);
        assertThat(info.holders().get(0).claim()).hasValue(CLAIM + 1);
        assertThat(info.waiters().get(0).claim()).hasValue(CLAIM + 2);
        get(held.release(Duration.ZERO));
        get(((Outcome.Granted) get(second)).grant().release(Duration.ZERO));
    }

    @Test
    void theWaitOfAHolderIsShownUntilItIsRemoved() throws Exception {
        Grant held = grant(1);
        assertThat(holder().waitsFor()).isEmpty();
        assertThat(get(held.recordWait(Optional.of(WAIT)))).isTrue();
        assertThat(holder().waitsFor()).hasValue(WAIT);
        assertThat(holder().claim()).hasValue(CLAIM + 1);
        // A downgrade does not remove it, nor the other way round.
        assertThat(get(held.downgrade())).isTrue();
        assertThat(holder().waitsFor()).hasValue(WAIT);
        assertThat(get(held.recordWait(Optional.empty()))).isTrue();
        assertThat(holder().waitsFor()).isEmpty();
        assertThat(holder().mode()).isEqualTo(LockMode.SHARED);
        assertThat(get(held.release(Duration.ZERO))).isTrue();
        assertThat(get(held.recordWait(Optional.of(WAIT)))).isFalse();
    }

    @Test
    void withoutAQueueClaimsAreShownAndWaitsAreNotRecorded() throws Exception {
        close();
        open("?queue=off");
        Grant held = grant(1);
        assertThat(holder().claim()).hasValue(CLAIM + 1);
        assertThat(get(held.recordWait(Optional.of(WAIT)))).isFalse();
        assertThat(holder().waitsFor()).isEmpty();
        get(held.release(Duration.ZERO));
    }

    @Test
    void manyLocksComeInPages() throws Exception {
        int locks = 3_000;
        List<CompletableFuture<Lease>> asked = new ArrayList<>();
        for (int i = 0; i < locks; i++) {
            asked.add(client.lock(String.format("订单-%04d", i)).acquireAsync());
        }
        for (CompletableFuture<Lease> lease : asked) {
            get(lease);
        }
        for (int i = 0; i < locks; i += 3) { // these stay as empty containers for a while
            Objects.requireNonNull(get(asked.get(i))).closeAsync().get();
        }
        List<String> seen = new ArrayList<>();
        String cursor = "";
        int pages = 0;
        do {
            LockPage page = client.list("订单-", cursor, 700);
            assertThat(page.locks()).hasSizeLessThanOrEqualTo(700);
            page.locks().forEach(lock -> seen.add(lock.name()));
            cursor = page.next().orElse("");
            pages++;
        } while (!cursor.isEmpty());
        assertThat(pages).isEqualTo(5);
        assertThat(seen).hasSize(locks * 2 / 3).doesNotHaveDuplicates().isSorted();
        assertThat(client.list("订单-")).hasSize(locks * 2 / 3);
        assertThat(client.list("订单-", "", locks).next()).isEmpty();
        assertThat(client.list("none", "", 10).locks()).isEmpty();
    }

    /** Each request reads up to a hundred nodes, and only the first page lists the namespace. */
    @Test
    void manyLocksAreReadInFewRequests() throws Exception {
        int locks = 1_000;
        List<CompletableFuture<Lease>> asked = new ArrayList<>();
        for (int i = 0; i < locks; i++) {
            asked.add(client.lock(String.format("many-%04d", i)).acquireAsync());
        }
        for (CompletableFuture<Lease> lease : asked) {
            get(lease);
        }
        Queue<String> requests = new ConcurrentLinkedQueue<>();
        try (LockClient operator = operator(requests)) {
            requests.clear();
            LockPage first = operator.list("many-", "", 500);
            assertThat(first.locks()).hasSize(500);
            assertThat(requests).hasSizeLessThanOrEqualTo(25).contains("getChildren");
            requests.clear();
            String cursor = first.next().orElseThrow();
            LockPage second = operator.list("many-", cursor, 500);
            assertThat(second.locks()).hasSize(500);
            assertThat(second.next()).isEmpty();
            assertThat(requests).hasSizeLessThanOrEqualTo(25).doesNotContain("getChildren");
            // The cursor works for another listing, too, which then has to list the namespace.
            assertThat(operator.list("", cursor, 10).locks()).hasSize(10);
            assertThat(requests).contains("getChildren");
            assertThat(operator.list("")).hasSize(locks);
        }
    }

    private LockClient operator(Queue<String> requests) {
        return LockClient.builder()
                .namespace(namespace)
                .requestTimeout(Duration.ofSeconds(20))
                .observer(new LockObserver() {
                    @Override
                    public void requestEnded(Request request) {
                        requests.add(request.kind());
                    }
                })
                .url("zookeeper://" + server.address())
                .connect();
    }
}
