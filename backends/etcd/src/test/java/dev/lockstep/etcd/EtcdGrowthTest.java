package dev.lockstep.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.etcd.Gateway.Kv;
import dev.lockstep.etcd.proto.Etcd.Event;
import dev.lockstep.servers.EtcdServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The history that a server keeps, and the cost of many held locks for other clients. */
class EtcdGrowthTest extends SingleMemberTestCase {

    /** etcd remembers each key until its history is compacted, and every range walks over all that it remembers. */
    @Test
    @Tag("full")
    void aNameHasFewKeysHoweverOftenItIsUsed() throws Exception {
        Backends backends = closedAfterwards(new Backends(namespace, "etcd://" + server.address()));
        Set<String> keys = ConcurrentHashMap.newKeySet();
        CompletableFuture<Void> watching = new CompletableFuture<>();
        ByteString prefix = Keys.bytes(lockPrefix(NAME));
        backends.open().watches().watch(prefix, Keys.endOf(prefix), 0, new Watches.Watcher() {
            @Override
            public void watching() {
                watching.complete(null);
            }

            @Override
            public void changed(Event event) {
                keys.add(event.getKv().getKey().toStringUtf8());
            }
        });
        watching.get(20, TimeUnit.SECONDS);
        List<LockClient> clients = List.of(connect(), connect(), connect());
        List<CompletableFuture<Void>> done = new ArrayList<>();
        for (LockClient client : clients) {
            done.add(CompletableFuture.runAsync(() -> {
                for (int i = 0; i < 100; i++) {
                    client.lock(NAME).lock();
                    client.lock(NAME).unlock();
                }
            }));
        }
        for (CompletableFuture<Void> future : done) {
            future.get();
        }
        // One for each client, and a second that asks while the first one leaves.
        await("it was used", () -> keys.size() >= clients.size());
        assertThat(keys).hasSizeLessThanOrEqualTo(2 * clients.size());
    }

    @Test
    @Tag("full")
    void clientsOneAfterTheOtherUseTheSameFewKeys() {
        Set<String> keys = ConcurrentHashMap.newKeySet();
        for (int i = 0; i < 40; i++) {
            LockClient client = connect();
            client.lock(NAME).lock();
            gateway.list("lockstep/" + namespace + "/").forEach(kv -> keys.add(kv.key()));
            client.close();
        }
        // Sessions draw their number from a few when there are no others.
        assertThat(keys).hasSizeLessThanOrEqualTo(2 * 8);
    }

    @Test
    @Tag("full")
    void aClientThatHoldsFewLocksAgainHasOneLeaseAgain() throws Exception {
        int before = gateway.leases();
        LockClient client = closedAfterwards(builder()
                .url("etcd://" + server.address())
                .ttl(Duration.ofSeconds(3))
                .requestTimeout(Duration.ofSeconds(20))
                .connect());
        List<Lease> held = hold(client, 2_500);
        assertThat(gateway.leases() - before).isBetween(3, 4);
        assertThat(gateway.list("lockstep/" + namespace + "/lock/").stream()
                        .collect(Collectors.groupingBy(Kv::lease, Collectors.counting()))
                        .values())
                .allMatch(locks -> locks <= 1_000);
        assertThat(held).allMatch(Lease::isValid);
        TimeUnit.SECONDS.sleep(4); // more than a ttl: each lease was renewed
        assertThat(held).allMatch(Lease::isValid);
        for (Lease lease : held) {
            lease.close();
        }
        await("one lease is left", () -> gateway.leases() - before == 1);
        client.lock(NAME).lock();
        client.lock(NAME).unlock();
    }

    static List<Lease> hold(LockClient client, int count) throws Exception {
        Semaphore inFlight = new Semaphore(200);
        List<CompletableFuture<Lease>> acquiring = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            inFlight.acquire();
            acquiring.add(client.lock("held-" + i).acquireAsync().whenComplete((lease, error) -> inFlight.release()));
        }
        List<Lease> held = new ArrayList<>();
        for (CompletableFuture<Lease> future : acquiring) {
            held.add(future.get());
        }
        return held;
    }

    @Test
    @Tag("soak")
    @Timeout(value = 30, unit = TimeUnit.MINUTES)
    void theFiftyThousandthPairCostsNoMoreThanTheFirst() {
        LockClient client = connect();
        Duration first = Duration.ZERO;
        Duration last = Duration.ZERO;
        for (int i = 0; i < 10; i++) {
            last = pairs(client, 5_000);
            first = i == 0 ? last : first;
            System.out.println((i + 1) * 5_000 + " pairs: " + 5_000_000 / last.toMillis() + " a second");
        }
        assertThat(last).isLessThan(first.multipliedBy(3).dividedBy(2));
    }

    private static Duration pairs(LockClient client, int count) {
        long start = System.nanoTime();
        for (int i = 0; i < count; i++) {
            client.lock(NAME).lock();
            client.lock(NAME).unlock();
        }
        return Duration.ofNanos(System.nanoTime() - start);
    }

    /**
     * All requests of the server wait while it deletes the keys of a lease. A busy machine makes requests wait, too: so
     * each span of time is compared with the same span on a server that has no such leases, and those in which leases end
     * with as many in which none does.
     */
    @Test
    @Tag("full")
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    void theEndOfAClientWithThirtyThousandLocksHardlyDelaysOthers() throws Exception {
        EtcdServer quiet =
                closedAfterwards(Servers.require(() -> EtcdServer.builder().start()));
        TcpProxy proxy = closedAfterwards(TcpProxy.to(server));
        LockClient other = connect();
        LockClient control = connect("etcd://" + quiet.address());
        int others = gateway.leases();
        String url = "etcd://127.0.0.1:" + proxy.port();
        ManyLocks dying = closedAfterwards(ManyLocks.hold(30_000, url, namespace, Duration.ofSeconds(30)));
        TimeUnit.SECONDS.sleep(15); // each session is renewed at its own time
        List<Span> calm = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            calm.add(Span.measure(other, control));
        }
        proxy.blackHole(); // its machine, with the connection
        dying.close();
        List<Span> spans = new ArrayList<>();
        int left = gateway.leases();
        while (left > others) {
            Span span = Span.measure(other, control);
            int now = gateway.leases();
            if (now < left) {
                spans.add(span.ending(left - now));
            }
            left = now;
        }
        long noise = longest(calm);
        System.out.println("milliseconds for which etcd did not answer, less those of another server: at most "
                + longest(spans) + ", and " + noise + " while no lease ended; of " + spans);
        // On one lease, all keys took two seconds.
        assertThat(longest(spans) - noise).isLessThan(200);
        // Otherwise that says nothing: all leases would end in one long span.
        assertThat(spans).hasSizeGreaterThan(10);
    }

    private static long longest(List<Span> spans) {
        return spans.stream().mapToLong(span -> span.here - span.there).max().orElse(0);
    }

    /**
     * A third of a second.
     *
     * @param here the longest pair of lock and unlock, in milliseconds
     * @param there the same at the other server
     * @param leases how many ended in it
     */
    private record Span(long here, long there, int leases) {
        static Span measure(LockClient here, LockClient there) {
            long start = System.nanoTime();
            long longestHere = 0;
            long longestThere = 0;
            while (System.nanoTime() - start < TimeUnit.MILLISECONDS.toNanos(300)) {
                longestHere = Math.max(longestHere, pairs(here, 1).toMillis());
                longestThere = Math.max(longestThere, pairs(there, 1).toMillis());
            }
            return new Span(longestHere, longestThere, 0);
        }

        Span ending(int ended) {
            return new Span(here, there, ended);
        }
    }
}
