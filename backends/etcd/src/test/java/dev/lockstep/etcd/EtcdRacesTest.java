package dev.lockstep.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockMode;
import dev.lockstep.LossReason;
import dev.lockstep.etcd.proto.Etcd.Event;
import dev.lockstep.etcd.proto.Etcd.KeyValue;
import dev.lockstep.etcd.proto.Etcd.TxnRequest;
import dev.lockstep.etcd.proto.Etcd.TxnResponse;
import dev.lockstep.servers.TcpProxy;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Outcome;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Keys are used again, and requests can arrive late: steps in the worst order. */
class EtcdRacesTest extends SingleMemberTestCase {
    private EtcdBackend backend;
    private Session session;

    @BeforeEach
    void openBackend() {
        backend = closedAfterwards(new Backends(namespace, "etcd://" + server.address()))
                .open();
        session = Backends.session(backend);
    }

    private TxnResponse send(TxnRequest request) throws Exception {
        return backend.link().call(Rpc.TXN, request).get();
    }

    private TxnRequest enter(ClaimKey key) {
        return key.enter(Keys.bytes("value"), false, session.fence());
    }

    /** The next claim of the same key, which is there when late requests of the one before arrive. */
    private ClaimKey enterNext(ClaimKey before) throws Exception {
        ClaimKey next = Backends.claimKey(backend, NAME);
        assertThat(next.bytes()).isEqualTo(before.bytes());
        assertThat(ClaimKey.hasEntered(send(enter(next)))).isTrue();
        return next;
    }

    /** A withdrawal can release a grant between its making and its beginning. */
    @Test
    void aGrantThatWasReleasedBeforeItBeganIsNotKept() throws Exception {
        TestClaim claim = TestClaim.of(NAME, "client.1");
        ClaimKey key = Backends.claimKey(backend, NAME);
        EtcdGrant grant = new EtcdGrant(backend, key, key.entered(send(enter(key))), claim, 0);
        assertThat(grant.release(LockBackend.DO_NOT_BLOCK).toCompletableFuture().get())
                .isTrue();
        grant.begin();
        session.signalLost(LossReason.SESSION_ENDED);
        assertThat(claim.lost()).isNotDone();
    }

    @Test
    void aDeleteThatArrivesLateSparesTheNextClaim() throws Exception {
        ClaimKey first = Backends.claimKey(backend, NAME);
        long created = first.entered(send(enter(first))).createRevision();
        assertThat(backend.leave(first, NAME, created, 0).get()).isTrue();
        enterNext(first);
        assertThat(send(first.leave(created, List.of())).getSucceeded()).isFalse();
        assertThat(gateway.list(lockPrefix(NAME))).hasSize(1);
    }

    @Test
    void aFinalDepartureThatArrivesLateSparesTheNextClaim() throws Exception {
        ClaimKey first = Backends.claimKey(backend, NAME);
        long fence = session.fence();
        send(enter(first));
        assertThat(backend.leave(first, NAME, 0, fence).get()).isTrue();
        enterNext(first);
        assertThat(send(first.leaveForGood(fence, List.of())).getSucceeded()).isFalse();
        assertThat(gateway.list(lockPrefix(NAME))).hasSize(1);
    }

    /** Of many claims that were not answered, the first moves the fence for all. */
    @Test
    void aDepartureBehindAFenceThatHasMovedFindsItsKey() throws Exception {
        long fence = session.fence();
        ClaimKey one = Backends.claimKey(backend, NAME);
        ClaimKey two = Backends.claimKey(backend, NAME);
        ClaimKey three = Backends.claimKey(backend, NAME);
        send(enter(one));
        send(enter(two));
        assertThat(gateway.list(lockPrefix(NAME))).hasSize(2);
        assertThat(backend.leave(one, NAME, 0, fence).get()).isTrue();
        assertThat(backend.leave(two, NAME, 0, fence).get()).isTrue();
        assertThat(backend.leave(three, NAME, 0, fence).get()).isFalse();
        assertThat(gateway.list(lockPrefix(NAME))).isEmpty();
        assertThat(session.claims()).isZero();
    }

    /** As when a client closes: its sessions end while requests are on their way, which then fail. */
    @Test
    void aDepartureThatFailsAfterTheEndOfItsSessionIsOver() throws Exception {
        Duration ttl = Duration.ofSeconds(10);
        TcpProxy proxy = closedAfterwards(TcpProxy.to(server));
        EtcdBackend cutOff = closedAfterwards(new Backends(namespace, "etcd://127.0.0.1:" + proxy.port()))
                .open(LockClient.builder().ttl(ttl).requestTimeout(ttl));
        ClaimKey key = Backends.claimKey(cutOff, NAME);
        proxy.blackHole();
        CompletableFuture<Boolean> left = cutOff.leave(key, NAME, 1, 0);
        key.session().signalLost(LossReason.CLIENT_CLOSED);
        assertThat(left.get(40, TimeUnit.SECONDS)).isFalse();
        proxy.heal();
    }

    @Test
    void aPlaceIsFreedOnce() {
        ClaimKey key = Backends.claimKey(backend, NAME);
        key.free();
        ClaimKey next = Backends.claimKey(backend, NAME);
        key.free();
        assertThat(session.claims()).isEqualTo(1);
        assertThat(next.bytes()).isEqualTo(key.bytes());
        assertThat(Backends.claimKey(backend, NAME).bytes()).isNotEqualTo(key.bytes());
    }

    /** The holder asks again while the waiter hears nothing: under the same key, but behind the waiter. */
    @Test
    void aWaiterPassesAPredecessorThatWasCreatedAgain() throws Exception {
        LockClient holder = connect();
        TcpProxy proxy = closedAfterwards(TcpProxy.to(server));
        LockClient waiter = connect("etcd://127.0.0.1:" + proxy.port());
        Lease held = holder.lock(NAME).acquireAsync().get();
        String key = gateway.list(lockPrefix(NAME)).get(0).key();
        CompletableFuture<Lease> waiting = waiter.lock(NAME).acquireAsync();
        await("it waits", () -> gateway.list(lockPrefix(NAME)).size() == 2);
        proxy.blackHole();
        held.close();
        CompletableFuture<Lease> behind = holder.lock(NAME).acquireAsync();
        await(
                "it waits again",
                () -> gateway.list(lockPrefix(NAME)).stream()
                                .filter(kv -> kv.key().equals(key))
                                .count()
                        == 1);
        proxy.heal();
        waiting.get(20, TimeUnit.SECONDS).close();
        behind.get(20, TimeUnit.SECONDS).close();
    }

    @Test
    void aSessionWhoseNumberWasTakenByAnotherHasEnded() throws Exception {
        TcpProxy proxy = closedAfterwards(TcpProxy.to(server));
        LockClient client = connect("etcd://127.0.0.1:" + proxy.port());
        Lease lease = client.lock(NAME).acquireAsync().get();
        long id = gateway.list(lockPrefix(NAME)).get(0).lease();
        String key = gateway.list("lockstep/" + namespace + "/client/").stream()
                .filter(kv -> kv.lease() == id)
                .findFirst()
                .orElseThrow()
                .key();
        proxy.blackHole();
        gateway.revoke(id);
        gateway.put(key, "client=another");
        proxy.heal();
        await("the hold is lost", () -> !lease.isValid());
        await("it goes on", () -> {
            client.lock(NAME + "-next").acquireAsync().get(20, TimeUnit.SECONDS).close();
            return true;
        });
        gateway.delete(key);
    }

    @Test
    void aStrangersKeyInTheClaimsPlaceIsPassedBy() throws Exception {
        String prefix = lockPrefix(NAME) + "w/" + session.number() + ".";
        gateway.put(prefix + "0", "?");
        TestClaim claim = TestClaim.of(NAME, "client.1");
        var granted = backend.submit(claim).outcome().toCompletableFuture().get(20, TimeUnit.SECONDS);
        assertThat(gateway.list(prefix)).extracting(Gateway.Kv::key).containsExactly(prefix + "0", prefix + "1");
        ((Outcome.Granted) granted)
                .grant()
                .release(LockBackend.DO_NOT_BLOCK)
                .toCompletableFuture()
                .get();
        assertThat(gateway.list(prefix)).extracting(Gateway.Kv::key).containsExactly(prefix + "0");
    }

    /** The event is lost for good: only another look finds out that the lock is free. */
    @Test
    void aWaiterThatMissedTheReleaseLooksWithTheNextRenewal() throws Exception {
        ForgetfulMember forgetful = closedAfterwards(new ForgetfulMember(server));
        LockClient holder = connect();
        LockClient waiter = closedAfterwards(builder()
                .url("etcd://" + forgetful.address())
                .ttl(Duration.ofSeconds(12))
                .connect());
        Lease held = holder.lock(NAME).acquireAsync().get();
        CompletableFuture<Lease> waiting = waiter.lock(NAME).acquireAsync();
        await("it watches its session and the holder", () -> forgetful.watches() == 2);
        TimeUnit.MILLISECONDS.sleep(300); // and has seen that the holder is still there
        held.close();
        await("the event is dropped", () -> forgetful.dropped() == 1);
        waiting.get(20, TimeUnit.SECONDS).close();
    }

    /** etcd may count the lease from the moment at which the client asked for it. */
    @Test
    void aSessionThatIsConfirmedLateIsValidNoLonger() throws Exception {
        TcpProxy proxy = closedAfterwards(TcpProxy.to(server));
        EtcdBackend slow = closedAfterwards(new Backends(namespace, "etcd://127.0.0.1:" + proxy.port()))
                .open();
        proxy.stall(TcpProxy.Direction.REPLIES);
        CompletableFuture<Session> opening = slow.sessions().open();
        long asked = System.nanoTime();
        TimeUnit.MILLISECONDS.sleep(500); // longer than the margin for clock drift
        proxy.heal();
        Session late = opening.get(20, TimeUnit.SECONDS);
        assertThat(late.validUntilNanos() - asked)
                .isLessThanOrEqualTo(slow.context().ttl().toNanos());
    }

    @Test
    void aGrantThatComesAfterTheWithdrawalIsNotKept() throws Exception {
        TcpProxy proxy = closedAfterwards(TcpProxy.to(server));
        EtcdBackend slow = closedAfterwards(new Backends(namespace, "etcd://127.0.0.1:" + proxy.port()))
                .open();
        proxy.stall(TcpProxy.Direction.REPLIES);
        Claim claim = slow.submit(TestClaim.of(NAME, "client.1"));
        await("it has entered", () -> gateway.list(lockPrefix(NAME)).size() == 1);
        CompletableFuture<Void> gone = claim.withdraw(LockBackend.DO_NOT_BLOCK).toCompletableFuture();
        proxy.heal();
        gone.get(20, TimeUnit.SECONDS);
        assertThat(gateway.list(lockPrefix(NAME))).isEmpty();
    }

    /** No request of the waiter reaches the server any more, but the event reaches the waiter. */
    @Test
    void aWaiterTakesOverWhenItsOnlyBlockerHasGone() throws Exception {
        LockClient holder = connect();
        TcpProxy proxy = closedAfterwards(TcpProxy.to(server));
        LockClient waiter = connect("etcd://127.0.0.1:" + proxy.port());
        Lease held = holder.lock(NAME).acquireAsync().get();
        CompletableFuture<Lease> waiting = waiter.lock(NAME).acquireAsync();
        await("it waits", () -> gateway.list(lockPrefix(NAME)).size() == 2);
        awaitQuiet(proxy); // its watch is in place, and it has seen that the holder is still there
        proxy.stall(TcpProxy.Direction.REQUESTS);
        held.close();
        Lease taken = waiting.get(20, TimeUnit.SECONDS);
        assertThat(taken.isValid()).isTrue();
        assertThat(taken.token() >> 10)
                .isEqualTo(gateway.list(lockPrefix(NAME)).get(0).createRevision());
        proxy.heal();
        taken.close();
    }

    /** Waits until nothing has been sent either way for a second; an answer on the loopback takes far less. */
    private static void awaitQuiet(TcpProxy proxy) {
        AtomicLong seen = new AtomicLong(-1);
        AtomicLong since = new AtomicLong();
        await("quiet", () -> {
            long bytes = proxy.bytes(TcpProxy.Direction.REQUESTS) + proxy.bytes(TcpProxy.Direction.REPLIES);
            if (seen.getAndSet(bytes) != bytes) {
                since.set(System.nanoTime());
            }
            return System.nanoTime() - since.get() > TimeUnit.SECONDS.toNanos(1);
        });
    }

    @Test
    void aWaiterThatTakesOverWithoutItsKeyLosesTheLock() throws Exception {
        TestClaim first = TestClaim.of(NAME, "client.1");
        var held = backend.submit(first).outcome().toCompletableFuture().get(20, TimeUnit.SECONDS);
        String key = gateway.list(lockPrefix(NAME)).get(0).key();
        TcpProxy proxy = closedAfterwards(TcpProxy.to(server));
        EtcdBackend another = closedAfterwards(new Backends(namespace, "etcd://127.0.0.1:" + proxy.port()))
                .open();
        TestClaim second = TestClaim.of(NAME, "client.2");
        Claim waiting = another.submit(second);
        await("it waits", () -> gateway.list(lockPrefix(NAME)).size() == 2 && waiting.mustWait());
        awaitQuiet(proxy); // its watch is in place, and it has seen that the holder is still there
        gateway.list(lockPrefix(NAME)).stream()
                .map(Gateway.Kv::key)
                .filter(other -> !other.equals(key))
                .forEach(gateway::delete);
        ((Outcome.Granted) held)
                .grant()
                .release(LockBackend.DO_NOT_BLOCK)
                .toCompletableFuture()
                .get();
        waiting.outcome().toCompletableFuture().get(20, TimeUnit.SECONDS);
        assertThat(second.lost().get(20, TimeUnit.SECONDS)).isEqualTo(LossReason.REVOKED);
    }

    /** A watch may begin on a member that is behind: it then reports an earlier claim with the same key. */
    @Test
    void anEventThatIsOlderThanTheLookDoesNotCount() {
        Watches.Watcher nobody = new Watches.Watcher() {
            @Override
            public void watching() {}

            @Override
            public void changed(Event event) {}
        };
        Blocker blocker = new Blocker(backend.watches(), nobody, ClaimTerms.lock(NAME, LockMode.EXCLUSIVE));
        KeyValue holder = KeyValue.newBuilder()
                .setKey(Keys.bytes(lockPrefix(NAME) + "w/9.0"))
                .setVersion(1)
                .build();
        blocker.follow(Blockers.only(holder, 1, 1, 10));
        assertThat(blocker.heard(deletion(holder, 10))).isEqualTo(Blocker.News.NONE);
        assertThat(blocker.heard(deletion(holder, 11))).isEqualTo(Blocker.News.FREE);
        blocker.follow(Blockers.last(holder, 11));
        assertThat(blocker.heard(deletion(holder, 12))).isEqualTo(Blocker.News.LOOK);
        blocker.forget();
    }

    private static Event deletion(KeyValue kv, long revision) {
        return Event.newBuilder()
                .setType(Event.EventType.DELETE)
                .setKv(KeyValue.newBuilder().setKey(kv.getKey()).setModRevision(revision))
                .build();
    }

    @Test
    void aCallThatMayBlockReturnsWithTheAnswer() throws Exception {
        Duration bound = Duration.ofSeconds(20);
        Claim claim = backend.submit(TestClaim.of(NAME, "client.1").blocking(bound));
        assertThat(claim.outcome().toCompletableFuture()).isDone();
        Claim waiting = backend.submit(TestClaim.of(NAME, "client.2").blocking(bound));
        assertThat(waiting.mustWait()).isTrue();
        assertThat(waiting.outcome().toCompletableFuture()).isNotDone();
        var granted = (Outcome.Granted) claim.outcome().toCompletableFuture().get();
        assertThat(granted.grant().release(bound).toCompletableFuture()).isCompletedWithValue(true);
        waiting.withdraw(bound).toCompletableFuture().get(20, TimeUnit.SECONDS);
    }

    @Test
    void aCallBlocksNoLongerThanItMay() throws Exception {
        TcpProxy proxy = closedAfterwards(TcpProxy.to(server));
        EtcdBackend silent = closedAfterwards(new Backends(namespace, "etcd://127.0.0.1:" + proxy.port()))
                .open(LockClient.builder().requestTimeout(Duration.ofSeconds(30)));
        proxy.blackHole();
        long start = System.nanoTime();
        Claim claim = silent.submit(TestClaim.of(NAME, "client.1").blocking(Duration.ofMillis(200)));
        // Without the bound it would block for the request timeout, which is twice as long.
        assertThat(Duration.ofNanos(System.nanoTime() - start))
                .isBetween(Duration.ofMillis(190), Duration.ofSeconds(15));
        assertThat(claim.outcome().toCompletableFuture()).isNotDone();
        proxy.heal();
    }
}
