package dev.lockstep.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import dev.lockstep.LockPage;
import dev.lockstep.etcd.proto.Etcd.TxnRequest;
import dev.lockstep.spi.Grant;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Outcome;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The operators' view of locks, and the data stored for it. */
class EtcdOperatorsTest extends SingleMemberTestCase {
    private static final LockInfo.Wait WAIT =
            LockInfo.Wait.of("other", LockMode.SHARED, "worker-1", Instant.ofEpochSecond(1), true);

    private EtcdBackend backend;

    @BeforeEach
    void openBackend() {
        backend = closedAfterwards(new Backends(namespace, "etcd://" + server.address()))
                .open();
    }

    private Grant hold(String name, String claimId) throws Exception {
        var outcome = backend.submit(TestClaim.of(name, claimId)).outcome().toCompletableFuture();
        return ((Outcome.Granted) outcome.get(20, TimeUnit.SECONDS)).grant();
    }

    private LockInfo.Entry holder(String name) throws Exception {
        return backend.inspect(name)
                .toCompletableFuture()
                .get(20, TimeUnit.SECONDS)
                .holders()
                .get(0);
    }

    private List<Gateway.Kv> waits() {
        return gateway.list("lockstep/" + namespace + "/wait/");
    }

    private static boolean release(Grant grant) throws Exception {
        return grant.release(LockBackend.DO_NOT_BLOCK).toCompletableFuture().get(20, TimeUnit.SECONDS);
    }

    private static boolean record(Grant grant, Optional<LockInfo.Wait> wait) throws Exception {
        return grant.recordWait(wait).toCompletableFuture().get(20, TimeUnit.SECONDS);
    }

    @Test
    void claimsAreNamed() throws Exception {
        Grant grant = hold(NAME, "client.1");
        backend.submit(TestClaim.of(NAME, "client.2"));
        await("it waits", () -> gateway.list(lockPrefix(NAME)).size() == 2);
        LockInfo info = backend.inspect(NAME).toCompletableFuture().get(20, TimeUnit.SECONDS);
        assertThat(info.holders().get(0).claim()).contains("client.1");
        assertThat(info.waiters().get(0).claim()).contains("client.2");
        release(grant);
    }

    @Test
    void theWaitOfAHolderIsStoredBesideItsClaimAndRemovedWithIt() throws Exception {
        Grant grant = hold(NAME, "client.1");
        assertThat(holder(NAME).waitsFor()).isEmpty();
        assertThat(record(grant, Optional.of(WAIT))).isTrue();
        assertThat(holder(NAME).waitsFor()).contains(WAIT);
        assertThat(backend.list("", "", 10)
                        .toCompletableFuture()
                        .get(20, TimeUnit.SECONDS)
                        .locks()
                        .get(0)
                        .holders()
                        .get(0)
                        .waitsFor())
                .contains(WAIT);
        assertThat(waits())
                .extracting(Gateway.Kv::lease)
                .containsExactly(gateway.list(lockPrefix(NAME)).get(0).lease());
        assertThat(record(grant, Optional.empty())).isTrue();
        assertThat(waits()).isEmpty();
        assertThat(record(grant, Optional.of(WAIT))).isTrue();
        long revision = gateway.revision();
        assertThat(release(grant)).isTrue();
        assertThat(waits()).isEmpty();
        assertThat(gateway.revision()).isEqualTo(revision + 1); // in one step
        assertThat(record(grant, Optional.of(WAIT))).isFalse();
    }

    @Test
    void aForcedReleaseLeavesNoWait() throws Exception {
        Grant grant = hold(NAME, "client.1");
        record(grant, Optional.of(WAIT));
        assertThat(backend.forceRelease(NAME, grant.token())
                        .toCompletableFuture()
                        .get(20, TimeUnit.SECONDS))
                .isTrue();
        assertThat(waits()).isEmpty();
        assertThat(record(grant, Optional.of(WAIT))).isFalse();
        release(grant);
    }

    /** An operator has deleted only the claim's key, and the next claim has the same key. */
    @Test
    void theWaitOfAnEarlierClaimIsNotShown() throws Exception {
        Grant first = hold(NAME, "client.1");
        record(first, Optional.of(WAIT));
        String key = gateway.list(lockPrefix(NAME)).get(0).key();
        gateway.delete(key);
        release(first);
        Grant second = hold(NAME, "client.2");
        assertThat(gateway.list(lockPrefix(NAME)).get(0).key()).isEqualTo(key);
        assertThat(holder(NAME).waitsFor()).isEmpty();
        release(second);
    }

    @Test
    void thousandsOfLocksAreListedInPages() throws Exception {
        int count = 3_000;
        Session session = Backends.session(backend);
        put(count, session);
        LockClient client = connect();
        Set<String> names = new HashSet<>();
        String cursor = "";
        int pages = 0;
        do {
            long requests = requests();
            LockPage page = client.list("held-", cursor, 400);
            assertThat(requests() - requests).isEqualTo(2); // a read, and the time that one lease has left
            assertThat(page.locks()).hasSizeBetween(1, 401);
            for (LockInfo lock : page.locks()) {
                assertThat(names.add(lock.name())).as(lock.name()).isTrue();
                assertThat(lock.holders()).hasSize(1);
                assertThat(lock.holders().get(0).remaining()).isPresent();
            }
            cursor = page.next().orElse("");
            pages++;
        } while (!cursor.isEmpty());
        assertThat(names).hasSize(count);
        assertThat(pages).isBetween(8, 9);
        assertThat(client.list("held-29", "", 1_000).locks()).hasSize(111);
        assertThat(client.list("none", "", 10).next()).isEmpty();
        assertThat(client.list("")).hasSize(count);
        assertThatThrownBy(() -> backend.list("", "not a cursor", 10)).isInstanceOf(IllegalArgumentException.class);
    }

    /** Without renewals. */
    private static long requests() {
        return (long) (server.metric("grpc_server_started_total", "grpc_method=\"Txn\"")
                + server.metric("grpc_server_started_total", "grpc_method=\"LeaseTimeToLive\""));
    }

    /** Puts claims as a client would, a hundred with one request. */
    private void put(int count, Session session) throws Exception {
        for (int i = 0; i < count; i += 100) {
            TxnRequest.Builder puts = TxnRequest.newBuilder();
            for (int j = i; j < i + 100; j++) {
                puts.addSuccess(Txns.put(
                        Keys.bytes(lockPrefix("held-" + j) + "w/" + session.number() + ".0"),
                        Keys.bytes("client=test\n"),
                        session.lease()));
            }
            backend.link().call(Rpc.TXN, puts.build()).get(20, TimeUnit.SECONDS);
        }
    }

    /** A queue that is longer than a page is shown whole, and what strangers have written is passed by. */
    @Test
    void aLongQueueIsOnOnePage() throws Exception {
        LockClient client = connect();
        gateway.put(lockPrefix("a") + "junk", "?");
        Lease held = client.lock("b").acquireAsync().get();
        List<CompletableFuture<Void>> gone = new ArrayList<>();
        List<dev.lockstep.spi.Claim> waiting = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            waiting.add(backend.submit(TestClaim.of("b", "client." + i)));
        }
        await("all wait", () -> client.inspect("b").waiters().size() == 20);
        Lease other = client.lock("c").acquireAsync().get();
        List<LockInfo> shown = new ArrayList<>();
        String cursor = "";
        do {
            LockPage page = client.list("", cursor, 5);
            shown.addAll(page.locks());
            cursor = page.next().orElse("");
        } while (!cursor.isEmpty());
        assertThat(shown).extracting(LockInfo::name).containsExactly("b", "c");
        assertThat(shown.get(0).waiters()).hasSize(20);
        waiting.forEach(
                claim -> gone.add(claim.withdraw(LockBackend.DO_NOT_BLOCK).toCompletableFuture()));
        for (CompletableFuture<Void> each : gone) {
            each.get(20, TimeUnit.SECONDS);
        }
        held.close();
        other.close();
    }
}
