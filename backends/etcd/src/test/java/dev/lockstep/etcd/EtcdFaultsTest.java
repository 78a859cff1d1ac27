package dev.lockstep.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockLostException;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.LossReason;
import dev.lockstep.etcd.Gateway.Kv;
import dev.lockstep.servers.TcpProxy;
import io.grpc.HandlerRegistry;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerMethodDefinition;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Faults between a client and one member. */
class EtcdFaultsTest extends SingleMemberTestCase {
    private static final Duration SILENCE = Duration.ofMillis(300);

    private TcpProxy proxy() {
        return closedAfterwards(TcpProxy.to(server));
    }

    private List<Kv> queue() {
        return gateway.list(lockPrefix(NAME));
    }

    // ---------------------------------------------------------------- lost answers

    @Test
    void aClaimWhoseAnswerWasLostIsMadeOnce() throws Exception {
        TcpProxy proxy = proxy();
        LockClient client = connect("etcd://127.0.0.1:" + proxy.port());
        CompletableFuture<Void> dropped = proxy.dropReplyTo(lockPrefix(NAME), SILENCE);
        try (Lease lease = client.lock(NAME).tryAcquire(Duration.ofSeconds(20)).orElseThrow()) {
            dropped.get(20, TimeUnit.SECONDS);
            assertThat(queue()).singleElement().satisfies(kv -> {
                assertThat(kv.createRevision()).isEqualTo(lease.token() >> 10);
                assertThat(kv.version()).isEqualTo(1);
            });
        }
        assertThat(queue()).isEmpty();
    }

    @Test
    void aTryWhoseAnswerWasLostIsGrantedOrBusyButLeavesNothing() throws Exception {
        TcpProxy proxy = proxy();
        LockClient client = connect("etcd://127.0.0.1:" + proxy.port());
        LockClient rival = connect();
        proxy.dropReplyTo(lockPrefix(NAME), SILENCE);
        assertThat(client.lock(NAME).tryLock()).isTrue();
        client.lock(NAME).unlock();
        Lease held = rival.lock(NAME).acquireAsync().get();
        proxy.dropReplyTo(lockPrefix(NAME), SILENCE);
        assertThat(client.lock(NAME).tryLock()).isFalse();
        assertThat(queue()).hasSize(1);
        held.close();
    }

    @Test
    void aReleaseWhoseAnswerWasLostIsNoLoss() throws Exception {
        TcpProxy proxy = proxy();
        LockClient client = connect("etcd://127.0.0.1:" + proxy.port());
        client.lock(NAME).lock();
        CompletableFuture<Void> dropped = proxy.dropReplyTo(lockPrefix(NAME), SILENCE);
        client.lock(NAME).unlock(); // neither lost nor unknown: the retry finds that it was done
        dropped.get(20, TimeUnit.SECONDS);
        assertThat(queue()).isEmpty();
    }

    /** Two ways to one member: what was sent on one is held back until the claim was withdrawn on the other. */
    @Test
    void aRequestThatArrivesAfterItsClaimWasWithdrawnEntersNoQueue() throws Exception {
        for (int round = 0; round < 3; round++) {
            String name = "late-" + round;
            TcpProxy slow = proxy();
            TcpProxy direct = proxy();
            direct.cut(); // so that the client begins with the slow one
            LockClient client = connect(builder()
                    .url("etcd://127.0.0.1:" + slow.port() + ",127.0.0.1:" + direct.port())
                    .requestTimeout(Duration.ofSeconds(5)));
            direct.heal();
            slow.stall(TcpProxy.Direction.REQUESTS);
            assertThatThrownBy(() -> client.lock(name).tryAcquire(Duration.ofMillis(200)))
                    .isInstanceOf(LockUnavailableException.class);
            // The next claim of the name waits until the withdrawal is confirmed.
            client.lock(name).tryAcquire(Duration.ofSeconds(40)).orElseThrow().close();
            slow.heal();
            // It comes before any later request on the same server could be answered.
            TimeUnit.MILLISECONDS.sleep(100);
            assertThat(gateway.list(lockPrefix(name))).isEmpty();
        }
    }

    /** The same as above, certain to arrive: the request itself, sent again when its claim is gone. */
    @Test
    void aRequestFromBeforeTheFenceIsRefused() throws Exception {
        Backends backends = closedAfterwards(new Backends(namespace, "etcd://" + server.address()));
        EtcdBackend backend = backends.open();
        Session session = Backends.session(backend);
        ClaimKey key = Backends.claimKey(backend, NAME);
        long fence = session.fence();
        var enter = key.enter(Keys.bytes("value"), false, fence);
        assertThat(backend.link().call(Rpc.TXN, enter).get().getSucceeded()).isTrue();
        assertThat(backend.leave(key, NAME, 0, fence).get()).isTrue();
        assertThat(backend.link().call(Rpc.TXN, enter).get().getSucceeded()).isFalse();
        assertThat(queue()).isEmpty();
        // New requests pass the fence.
        assertThat(backend.link()
                        .call(Rpc.TXN, key.enter(Keys.bytes("value"), false, session.fence()))
                        .get()
                        .getSucceeded())
                .isTrue();
    }

    // ---------------------------------------------------------------- lost leases

    private long leaseOfWhoWaitsFor(Lease held) {
        return queue().stream()
                .filter(kv -> kv.createRevision() != held.token() >> 10)
                .findFirst()
                .orElseThrow()
                .lease();
    }

    @Test
    void aWaiterWhoseLeaseEndedIsNotGrantedWithoutAKey() throws Exception {
        LockClient holder = connect();
        TcpProxy proxy = proxy();
        LockClient waiter = connect("etcd://127.0.0.1:" + proxy.port());
        Lease held = holder.lock(NAME).acquireAsync().get();
        CompletableFuture<Lease> waiting = waiter.lock(NAME).acquireAsync();
        await("it waits", () -> queue().size() == 2);
        long lease = leaseOfWhoWaitsFor(held);
        // The waiter hears of nothing: not of the end of its lease, and not of the release.
        proxy.blackHole();
        gateway.revoke(lease);
        held.close();
        assertThat(queue()).isEmpty();
        proxy.heal();
        Lease granted = waiting.get(20, TimeUnit.SECONDS);
        assertThat(queue()).singleElement().satisfies(kv -> {
            assertThat(kv.createRevision()).isEqualTo(granted.token() >> 10);
            assertThat(kv.lease()).isNotEqualTo(lease);
        });
        assertThat(holder.lock(NAME).tryLock()).isFalse();
        granted.close();
    }

    /** A client whose next renewal comes long after a test has given up: what it hears before then, it hears by push. */
    private LockClient connectForLong() {
        return connect(builder().url("etcd://" + server.address()).ttl(Duration.ofMinutes(5)));
    }

    @Test
    void allGrantsAreLostWithTheLeaseAndWaitersQueueAgain() throws Exception {
        LockClient rival = connect();
        LockClient client = connectForLong();
        Lease first = client.lock("first").acquireAsync().get();
        Lease second = client.lock("second").acquireAsync().get();
        Lease held = rival.lock(NAME).acquireAsync().get();
        CompletableFuture<Lease> waiting = client.lock(NAME).acquireAsync();
        await("it waits", () -> queue().size() == 2);
        long lease = gateway.list(lockPrefix("first")).get(0).lease();
        CompletableFuture<LossReason> told = new CompletableFuture<>();
        first.onLost(told::complete);
        gateway.revoke(lease);
        await("both are lost", () -> !first.isValid() && !second.isValid());
        // By push: the next renewal comes after a third of the ttl.
        assertThat(told.get(20, TimeUnit.SECONDS)).isIn(LossReason.SESSION_ENDED, LossReason.REVOKED);
        await("it queues again", () -> queue().size() == 2);
        held.close();
        waiting.get(20, TimeUnit.SECONDS).close();
        assertThatThrownBy(first::close).isInstanceOf(LockLostException.class);
        assertThatThrownBy(second::close).isInstanceOf(LockLostException.class);
    }

    /** Reads are answered during the whole time, and so are the core's pings. */
    @Test
    void claimsEndWithTheRefusalOfTheSessionThatTheyWaitFor() throws Exception {
        LockClient rival = connect();
        LockClient client = connect();
        Lease held = rival.lock(NAME).acquireAsync().get();
        CompletableFuture<Lease> waiting = client.lock(NAME).acquireAsync();
        await("it waits", () -> queue().size() == 2);
        long lease = leaseOfWhoWaitsFor(held);
        gateway.noSpace(true);
        try {
            gateway.revoke(lease);
            assertThatThrownBy(() -> waiting.get(20, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(LockUnavailableException.class)
                    .hasMessageContaining("space exceeded");
            for (String name : List.of(NAME, "free")) {
                assertThatThrownBy(() -> client.lock(name).lock())
                        .isInstanceOf(LockUnavailableException.class)
                        .hasMessageContaining(name)
                        .hasMessageContaining("session")
                        .hasMessageContaining("space exceeded");
                assertThatThrownBy(() -> client.lock(name).tryLock(1, TimeUnit.MILLISECONDS))
                        .isInstanceOf(LockUnavailableException.class);
            }
        } finally {
            gateway.noSpace(false);
        }
        await("it goes on", () -> client.lock("free").tryLock());
        client.lock("free").unlock();
        held.close();
        client.lock(NAME).acquireAsync().get(20, TimeUnit.SECONDS).close();
    }

    @Test
    void deletingTheSessionsKeyEndsTheSession() throws Exception {
        LockClient client = connect();
        Lease lease = client.lock(NAME).acquireAsync().get();
        gateway.list("lockstep/" + namespace + "/client/").forEach(kv -> gateway.delete(kv.key()));
        await("the hold is lost", () -> !lease.isValid());
        await("the lock is free", () -> queue().isEmpty());
        assertThatThrownBy(lease::close).isInstanceOf(LockLostException.class);
        await("it goes on", () -> {
            client.lock(NAME).acquireAsync().get(20, TimeUnit.SECONDS).close();
            return true;
        });
    }

    @Test
    void aHolderHearsAtOnceThatItsKeyWasDeletedOrWrittenOver() throws Exception {
        LockClient client = connectForLong();
        for (boolean delete : List.of(true, false)) {
            Lease lease = client.lock(NAME).acquireAsync().get();
            CompletableFuture<LossReason> told = new CompletableFuture<>();
            lease.onLost(told::complete);
            String key = queue().get(0).key();
            if (delete) {
                gateway.delete(key);
            } else {
                gateway.put(key, "mine");
            }
            assertThat(told.get(20, TimeUnit.SECONDS)).isEqualTo(LossReason.REVOKED);
            assertThatThrownBy(lease::close).isInstanceOf(LockLostException.class);
            await("nothing is left", () -> queue().isEmpty());
        }
    }

    @Test
    void closingRevokesTheLease() {
        int leases = gateway.leases();
        LockClient client = connect();
        client.lock(NAME).lock();
        assertThat(gateway.leases()).isEqualTo(leases + 1);
        client.close();
        assertThat(gateway.leases()).isEqualTo(leases);
        assertThat(gateway.list("lockstep/" + namespace + "/")).isEmpty();
    }

    @Test
    void closingWhileAnotherSessionIsOpenedRevokesThatOne() throws Exception {
        int leases = gateway.leases();
        TcpProxy proxy = proxy();
        Backends backends = closedAfterwards(new Backends(namespace, "etcd://127.0.0.1:" + proxy.port()));
        EtcdBackend backend = backends.open();
        Session first = Backends.session(backend);
        proxy.delay(SILENCE);
        gateway.revoke(first.lease());
        await("it opens another", () -> backend.sessions().all().isEmpty());
        await("the other is there", () -> gateway.leases() == leases + 1); // and the client has not heard of it yet
        backends.close();
        assertThat(gateway.leases()).isEqualTo(leases);
    }

    // ---------------------------------------------------------------- members that do not serve

    /** The stand-in answers as a learner of etcd 3.6 does; earlier ones say that they are unavailable. */
    @Test
    void aMemberThatDoesNotServeSuchRequestsIsPassedOver() throws Exception {
        for (String reason : List.of("etcdserver: rpc not supported for learner", "etcdserver: not capable")) {
            AtomicInteger asked = new AtomicInteger();
            Server learner = refusingMember(Status.FAILED_PRECONDITION.withDescription(reason), asked);
            String other = "127.0.0.1:" + learner.getPort();
            await(
                    "a client that begins there",
                    () -> { // it begins with any
                        LockClient client = connect("etcd://" + other + "," + server.address());
                        client.lock(NAME).lock();
                        client.lock(NAME).unlock();
                        return asked.get() > 0;
                    });
            assertThatThrownBy(() -> closedAfterwards(builder()
                            .url("etcd://" + other)
                            .requestTimeout(Duration.ofSeconds(1))
                            .connect()))
                    .isInstanceOf(LockUnavailableException.class)
                    .hasMessageContaining(other);
        }
    }

    private Server refusingMember(Status refusal, AtomicInteger asked) throws IOException {
        Server member = NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", 0))
                .fallbackHandlerRegistry(new HandlerRegistry() {
                    @Override
                    public ServerMethodDefinition<?, ?> lookupMethod(String method, String authority) {
                        return ServerMethodDefinition.create(
                                Rpc.TXN.toBuilder().setFullMethodName(method).build(), (call, headers) -> {
                                    asked.incrementAndGet();
                                    call.close(refusal, new Metadata());
                                    return new ServerCall.Listener<>() {};
                                });
                    }
                })
                .build()
                .start();
        closedAfterwards(member::shutdownNow);
        return member;
    }

    // ---------------------------------------------------------------- watches

    @Test
    void aWaiterSurvivesACompactionThatItDidNotSee() throws Exception {
        LockClient holder = connect();
        TcpProxy proxy = proxy();
        LockClient waiter = connect("etcd://127.0.0.1:" + proxy.port());
        Lease held = holder.lock(NAME).acquireAsync().get();
        CompletableFuture<Lease> waiting = waiter.lock(NAME).acquireAsync();
        await("it waits", () -> queue().size() == 2);
        gateway.compact(); // under a watch in place
        proxy.blackHole();
        held.close();
        gateway.compact(); // the release is history that no watch can be given any more
        proxy.heal();
        waiting.get(20, TimeUnit.SECONDS).close();
    }

    @Test
    void aWatchOfACompactedRevisionStartsAgainAndSaysSo() throws Exception {
        Backends backends = closedAfterwards(new Backends(namespace, "etcd://" + server.address()));
        EtcdBackend backend = backends.open();
        String key = "lockstep/" + namespace + "/other";
        gateway.put(key, "1");
        gateway.put(key, "2");
        gateway.compact();
        CompletableFuture<Void> watching = new CompletableFuture<>();
        CompletableFuture<String> changed = new CompletableFuture<>();
        backend.watches().watch(Keys.bytes(key), Keys.endOf(Keys.bytes(key)), 1, new Watches.Watcher() {
            @Override
            public void watching() {
                watching.complete(null);
            }

            @Override
            public void changed(dev.lockstep.etcd.proto.Etcd.Event event) {
                changed.complete(event.getKv().getValue().toStringUtf8());
            }
        });
        watching.get(20, TimeUnit.SECONDS);
        gateway.put(key, "3");
        assertThat(changed.get(20, TimeUnit.SECONDS)).isEqualTo("3");
        gateway.delete(key);
    }

    @Test
    void aWaiterSurvivesTheEndOfItsStream() throws Exception {
        LockClient holder = connect();
        TcpProxy proxy = proxy();
        Duration ttl = Duration.ofMinutes(10); // so that no renewal, which looks again, comes in time to help
        LockClient waiter =
                connect(builder().url("etcd://127.0.0.1:" + proxy.port()).ttl(ttl));
        for (int round = 0; round < 5; round++) {
            Lease held = holder.lock(NAME).acquireAsync().get();
            CompletableFuture<Lease> waiting = waiter.lock(NAME).acquireAsync();
            await("it waits", () -> queue().size() == 2);
            proxy.resetConnections();
            held.close();
            waiting.get(20, TimeUnit.SECONDS).close();
        }
    }

    @Test
    void aHolderLearnsThatItIsWantedAfterTheEndOfItsStream() throws Exception {
        TcpProxy proxy = proxy();
        LockClient sticky = connect("etcd://127.0.0.1:" + proxy.port());
        var options = dev.lockstep.LockOptions.defaults().sticky(Duration.ofMinutes(5));
        sticky.lock(NAME, options).lock();
        sticky.lock(NAME, options).unlock();
        proxy.blackHole();
        LockClient rival = connect();
        CompletableFuture<Lease> waiting = rival.lock(NAME).acquireAsync();
        await("it waits", () -> queue().size() == 2);
        proxy.heal();
        waiting.get(20, TimeUnit.SECONDS).close();
    }
}
