package dev.lockstep.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.DistributedSemaphore;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockLostException;
import dev.lockstep.LockOptions;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.LossReason;
import dev.lockstep.Permit;
import dev.lockstep.redis.internal.ConnectThreads;
import dev.lockstep.redis.internal.Route;
import dev.lockstep.redis.internal.Settings;
import dev.lockstep.redis.internal.Url;
import dev.lockstep.servers.RedisCluster;
import dev.lockstep.servers.RedisSentinels;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.ServerException;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.TcpProxy;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.BackendFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.util.Pool;

/** A server is lost and another takes its place, or a slot of a cluster moves. */
@Tag("full")
@Timeout(180)
class FailoverTest {
    private static final String NAME = "order:42";
    private static final String KEY = "lockstep:{lockstep:order:42}";

    private static LockClient connect(String url, Duration ttl) {
        return connect(url, ttl, Duration.ofSeconds(2));
    }

    private static LockClient connect(String url, Duration ttl, Duration requestTimeout) {
        return LockClient.builder()
                .url(url)
                .ttl(ttl)
                .requestTimeout(requestTimeout)
                .retryBackoff(Duration.ofMillis(20), Duration.ofMillis(200))
                .connect();
    }

    @Nested
    class Replicas {
        @Test
        void aGrantThatAReplicaConfirmsCounts() throws Exception {
            try (RedisServer primary =
                            Servers.require(() -> RedisServer.builder().start());
                    RedisServer replica =
                            RedisServer.builder().replicaOf(primary.port()).start()) {
                for (String options : new String[] {"?replicas=1", "?replicas=1&queue=off"}) {
                    try (LockClient client = connect(primary.url() + options, Duration.ofSeconds(5))) {
                        client.lock(NAME + options).lock();
                        assertThat(replica.command("KEYS", "*")).contains(NAME + options);
                        client.lock(NAME + options).unlock();
                    }
                }
                try (LockClient first = connect(primary.url() + "?replicas=1", Duration.ofSeconds(5));
                        LockClient second = connect(primary.url() + "?replicas=1", Duration.ofSeconds(5));
                        LockClient careless = connect(primary.url(), Duration.ofSeconds(5))) {
                    Probe.works(first, second);
                    assertThat(first.describe().guarantees()).anyMatch(line -> line.startsWith("1 of its replicas"));
                    assertThat(first.describe().limits()).noneMatch(line -> line.contains("failover"));
                    assertThat(careless.describe().limits()).anyMatch(line -> line.contains("failover"));
                }
            }
        }

        @Test
        void aGrantThatTooFewReplicasConfirmIsReleased() throws Exception {
            try (RedisServer primary =
                            Servers.require(() -> RedisServer.builder().start());
                    TcpProxy link = TcpProxy.to(primary);
                    RedisServer replica =
                            RedisServer.builder().replicaOf(link.port()).start();
                    LockClient careful = connect(primary.url() + "?replicas=1", Duration.ofSeconds(30));
                    LockClient plain = connect(primary.url(), Duration.ofSeconds(30))) {
                careful.lock(NAME).lock();
                careful.lock(NAME).unlock();
                link.cut();
                assertThatThrownBy(careful.lock(NAME)::lock)
                        .isInstanceOf(LockUnavailableException.class)
                        .hasMessageContaining("replicas")
                        .hasMessageContaining(NAME);
                Bench.await("it is free", () -> plain.list("").isEmpty());
                // The same if it is handed over by another client.
                for (LockOptions options : new LockOptions[] {
                    LockOptions.defaults(), LockOptions.defaults().fair()
                }) {
                    String name = NAME + options.isFair();
                    Lease held = plain.lock(name, options).acquire();
                    CompletableFuture<Lease> waiting =
                            careful.lock(name, options).acquireAsync();
                    Bench.awaitWaiters(plain, name, 1);
                    held.close();
                    assertThatThrownBy(() -> waiting.get(20, TimeUnit.SECONDS))
                            .hasCauseInstanceOf(LockUnavailableException.class);
                    Bench.await("it is free", () -> plain.list("").isEmpty());
                }
                link.heal();
                Bench.await(
                        "the replica is back",
                        () -> replica.info("master_link_status").equals("up"));
                careful.lock(NAME).lock();
                careful.lock(NAME).unlock();
            }
        }

        @Test
        void permitsAndSlotsCountWhenAReplicaHasThem() throws Exception {
            try (RedisServer primary =
                            Servers.require(() -> RedisServer.builder().start());
                    TcpProxy link = TcpProxy.to(primary);
                    RedisServer replica =
                            RedisServer.builder().replicaOf(link.port()).start();
                    LockClient careful = connect(primary.url() + "?replicas=1", Duration.ofSeconds(60))) {
                DistributedSemaphore semaphore = careful.semaphore(NAME, 3);
                Permit two = semaphore.acquire(2);
                assertThat(two.slots()).containsExactly(0, 1);
                assertThat(replica.command("HGET", KEY, "limit")).isEqualTo("3");
                assertThat(replica.command("HGET", KEY + ":claims", "slots"))
                        .isEqualTo(primary.command("HGET", KEY + ":claims", "slots"))
                        .isNotEmpty();
                Permit one = semaphore.acquire();
                link.cut();
                // The next primary might not know whose slot it is.
                assertThatThrownBy(one::slot).isInstanceOf(LockUnavailableException.class);
                assertThatThrownBy(() -> careful.semaphore("other", 1).acquire())
                        .isInstanceOf(LockUnavailableException.class)
                        .hasMessageContaining("replicas");
                link.heal();
                Bench.await(
                        "the replica is back",
                        () -> replica.info("master_link_status").equals("up"));
                assertThat(one.slot()).isEqualTo(2);
                one.close();
                two.close();
            }
        }

        /** Otherwise a replica that was cut off for long would be promoted without knowing a hold that seems valid. */
        @ParameterizedTest
        @ValueSource(strings = {"", "&queue=off"})
        void aRenewalThatTooFewReplicasConfirmDoesNotCount(String options) throws Exception {
            Duration ttl = Duration.ofSeconds(4);
            try (RedisServer primary =
                            Servers.require(() -> RedisServer.builder().start());
                    TcpProxy link = TcpProxy.to(primary);
                    RedisServer replica =
                            RedisServer.builder().replicaOf(link.port()).start();
                    LockClient careful = connect(primary.url() + "?replicas=1" + options, ttl);
                    LockClient careless = connect(primary.url() + "?replicas=0" + options, ttl)) {
                Queue<LossReason> reasons = new ConcurrentLinkedQueue<>();
                Lease held = careful.lock("careful").acquireAsync().get();
                held.onLost(reasons::add);
                Bench.awaitRenewal(held);
                Lease other = careless.lock("careless").acquireAsync().get();
                link.cut();
                Bench.await("the loss is reported", () -> !reasons.isEmpty());
                assertThat(reasons).containsExactly(LossReason.EXPIRED);
                assertThat(other.isValid()).isTrue();
                assertThat(replica.isAlive()).isTrue();
                assertThatThrownBy(held::close).isInstanceOf(LockLostException.class);
                other.close();
            }
        }

        @Test
        void aLockThatDidNotReachTheNextPrimaryIsLostAndItsTokensRise() throws Exception {
            try (RedisServer primary =
                            Servers.require(() -> RedisServer.builder().start());
                    TcpProxy link = TcpProxy.to(primary);
                    RedisServer replica =
                            RedisServer.builder().replicaOf(link.port()).start()) {
                AtomicReference<RedisServer> current = new AtomicReference<>(primary);
                try (LockClient holder = switching(current);
                        LockClient other = switching(current)) {
                    link.cut();
                    Queue<LossReason> reasons = new ConcurrentLinkedQueue<>();
                    Lease held = holder.lock(NAME).acquireAsync().get();
                    long token = held.token();
                    held.onLost(reasons::add);
                    replica.command("REPLICAOF", "NO", "ONE");
                    current.set(replica);
                    primary.kill();
                    try (Lease next =
                            other.lock(NAME).tryAcquire(Duration.ofSeconds(20)).orElseThrow()) {
                        assertThat(next.token()).isGreaterThan(token);
                        Bench.await("the loss is reported", () -> reasons.size() == 1);
                        assertThatThrownBy(held::close).isInstanceOf(LockLostException.class);
                        assertThat(next.isValid()).isTrue();
                    }
                }
            }
        }

        /** A demoted primary rejects the clients that wait for its replicas. */
        @Test
        void aClaimIsMadeAgainIfItsPrimaryIsDemotedBeforeAReplicaConfirms() throws Exception {
            try (RedisServer primary =
                            Servers.require(() -> RedisServer.builder().start());
                    RedisServer replica =
                            RedisServer.builder().replicaOf(primary.port()).start()) {
                AtomicReference<RedisServer> current = new AtomicReference<>(primary);
                Settings options = Settings.DEFAULTS.withReplicas(1);
                try (LockClient client = switching(current, Duration.ofMinutes(1), Bench.PATIENCE, options)) {
                    replica.pause();
                    CompletableFuture<Lease> asked = client.lock(NAME).acquireAsync();
                    Bench.await(
                            "the replica is waited for",
                            () -> primary.info("blocked_clients").equals("1"));
                    primary.command("REPLICAOF", "127.0.0.1", Integer.toString(replica.port()));
                    replica.resume();
                    replica.command("REPLICAOF", "NO", "ONE");
                    current.set(replica);
                    asked.get(60, TimeUnit.SECONDS).close();
                }
            }
        }

        /** A client that goes to whatever server is current, as one behind a virtual address does. */
        private LockClient switching(AtomicReference<RedisServer> current) {
            return switching(current, Duration.ofSeconds(3), Duration.ofSeconds(1), Settings.DEFAULTS);
        }

        private LockClient switching(
                AtomicReference<RedisServer> current, Duration ttl, Duration requestTimeout, Settings options) {
            return LockClient.builder()
                    .ttl(ttl)
                    .requestTimeout(requestTimeout)
                    .backend(context -> RedisEngine.open(context, own -> new SwitchingRoute(own, current), options))
                    .connect();
        }
    }

    @Nested
    class Sentinel {
        @Test
        void connectingToADemotedPrimaryFailsWithAnOutage() {
            try (RedisSentinels setUp =
                    Servers.require(() -> RedisServer.builder().startSentinels(1, 3))) {
                String url = "redis-sentinel://" + setUp.sentinels().addresses() + "/" + RedisSentinels.PRIMARY_NAME;
                RedisServer old = setUp.primary();
                RedisServer next = setUp.servers().find(server -> server != old);
                next.command("REPLICAOF", "NO", "ONE");
                old.command("REPLICAOF", "127.0.0.1", Integer.toString(next.port())); // before Sentinel knows
                assertThatThrownBy(() -> connect(url, Duration.ofSeconds(5)))
                        .isInstanceOf(LockUnavailableException.class)
                        .hasMessageContaining("failover");
            }
        }

        @Test
        void aLockSurvivesAFailoverThatItReached() throws Exception {
            try (RedisSentinels setUp =
                    Servers.require(() -> RedisServer.builder().startSentinels(2, 3))) {
                String url = "redis-sentinel://" + setUp.sentinels().addresses() + "/" + RedisSentinels.PRIMARY_NAME
                        + "?replicas=2";
                try (LockClient holder = connect(url, Duration.ofSeconds(30));
                        LockClient other = connect(url, Duration.ofSeconds(30))) {
                    Lease held = holder.lock(NAME).acquireAsync().get();
                    long token = held.token();
                    CompletableFuture<Lease> waiting = other.lock(NAME)
                            .tryAcquireAsync(Duration.ofSeconds(60))
                            .thenApply(lease -> lease.orElseThrow());
                    Bench.awaitWaiters(holder, NAME, 1);
                    RedisServer old = setUp.primary();
                    old.kill();
                    Bench.await("another is the primary", () -> !setUp.primary().equals(old));
                    Bench.await("the waiter is back", () -> hasWaiter(holder));
                    assertThat(held.isValid()).isTrue();
                    assertThat(waiting).isNotDone();
                    old.start(); // as a replica of the new one, so that two can confirm again
                    held.close();
                    Lease next = waiting.handle((lease, error) -> lease).get(60, TimeUnit.SECONDS);
                    if (next == null) {
                        // Too early for the second replica: then the waiter gets a message, but not the lock.
                        assertThatThrownBy(waiting::get).hasCauseInstanceOf(LockUnavailableException.class);
                    } else {
                        assertThat(next.token()).isGreaterThan(token);
                        next.close();
                    }
                    Bench.await("nothing is left", () -> other.list("").isEmpty());
                }
            }
        }
    }

    private static boolean hasWaiter(LockClient client) {
        try {
            return client.inspect(NAME).waiters().size() == 1;
        } catch (LockUnavailableException e) {
            return false;
        }
    }

    @Nested
    class Cluster {
        @Test
        void aLockMovesWithItsSlot() throws Exception {
            try (RedisCluster cluster =
                            Servers.require(() -> RedisServer.builder().startCluster(3, 0));
                    LockClient holder = connect("redis-cluster://" + cluster.addresses(), Duration.ofSeconds(6));
                    LockClient other = connect("redis-cluster://" + cluster.addresses(), Duration.ofSeconds(6))) {
                Lease held = holder.lock(NAME).acquireAsync().get();
                long token = held.token();
                CompletableFuture<Lease> waiting = other.lock(NAME).acquireAsync();
                Bench.awaitWaiters(holder, NAME, 1);
                int slot = cluster.slot(KEY);
                RedisServer from = cluster.owner(slot);
                RedisServer to = cluster.find(node -> !node.equals(from));
                cluster.moveSlot(slot, to);
                assertThat(to.command("EXISTS", KEY)).isEqualTo("1");
                assertThat(held.isValid()).isTrue();
                assertThat(waiting).isNotDone();
                Bench.awaitRenewal(held);
                held.close();
                Lease next = waiting.get(20, TimeUnit.SECONDS);
                assertThat(next.token()).isGreaterThan(token);
                // And back, while locks come and go.
                CompletableFuture<Void> moved = CompletableFuture.runAsync(() -> cluster.moveSlot(slot, from));
                next.close();
                while (!moved.isDone()) {
                    holder.lock(NAME).lock();
                    holder.lock(NAME).unlock();
                }
                moved.get();
                Probe.works(holder, other);
            }
        }

        /** Nothing but its renewals can find out where the lock is now. */
        @ParameterizedTest
        @ValueSource(booleans = {false, true})
        @Tag("full")
        void aHolderThatAsksForNothingElseKeepsItsLockOverAFailover(boolean silent) throws Exception {
            Duration ttl = Duration.ofSeconds(15);
            try (RedisCluster cluster =
                            Servers.require(() -> RedisServer.builder().startCluster(3, 1));
                    LockClient client = connect("redis-cluster://" + cluster.addresses(), ttl)) {
                Lease held = client.lock(NAME).acquire();
                RedisServer primary = cluster.owner(cluster.slot(KEY));
                Bench.await(
                        "a replica has it",
                        () -> cluster.servers().stream()
                                .anyMatch(node -> !node.equals(primary)
                                        && node.command("KEYS", "*").contains(KEY)));
                if (silent) {
                    primary.pause();
                } else {
                    primary.kill();
                }
                Bench.letPass(ttl.multipliedBy(5).dividedBy(4));
                assertThat(held.isValid()).isTrue();
                if (silent) {
                    primary.resume();
                }
                held.close();
            }
        }

        @Test
        void aNodeThatIsAwayDoesNotCostTheLocksOfOthers() throws Exception {
            try (RedisCluster cluster = Servers.require(() -> RedisServer.builder()
                            .setting("cluster-require-full-coverage", "no")
                            .startCluster(3, 0));
                    LockClient client = connect("redis-cluster://" + cluster.addresses(), Duration.ofSeconds(6))) {
                RedisServer away = cluster.get(0);
                List<Lease> there = acquire(client, namesOn(cluster, away));
                List<Lease> elsewhere = acquire(client, namesOn(cluster, cluster.get(1)));
                assertThat(there).isNotEmpty();
                away.pause();
                Bench.await("those there are lost", () -> there.stream().noneMatch(Lease::isValid));
                assertThat(elsewhere).allMatch(Lease::isValid);
                away.resume();
                for (Lease lease : elsewhere) {
                    lease.close();
                }
            }
        }

        @ParameterizedTest
        @ValueSource(strings = {"", "?queue=off"})
        void aLockWhoseNodeIsDeadIsAnErrorAndNotABusyLock(String options) throws Exception {
            Duration timeout = Duration.ofSeconds(3);
            try (RedisCluster cluster = Servers.require(() -> RedisServer.builder()
                    .setting("cluster-require-full-coverage", "no")
                    .startCluster(3, 0))) {
                String url = "redis-cluster://" + cluster.addresses() + options;
                try (LockClient holder = connect(url, Bench.PATIENCE, timeout);
                        LockClient client = connect(url, Bench.PATIENCE, timeout)) {
                    RedisServer dead = cluster.get(0);
                    List<String> there = namesOn(cluster, dead);
                    String elsewhere = namesOn(cluster, cluster.get(1)).get(0);
                    holder.lock(there.get(0)).acquireAsync().get();
                    CompletableFuture<Lease> waiting = client.lock(there.get(0)).acquireAsync();
                    if (options.isEmpty()) {
                        Bench.awaitWaiters(holder, there.get(0), 1);
                    }
                    dead.kill();
                    assertThatThrownBy(() -> waiting.get(40, TimeUnit.SECONDS))
                            .hasCauseInstanceOf(LockUnavailableException.class);
                    CompletableFuture<Lease> asked = client.lock(there.get(1)).acquireAsync();
                    assertThatThrownBy(() -> asked.get(40, TimeUnit.SECONDS))
                            .hasCauseInstanceOf(LockUnavailableException.class);
                    assertThatThrownBy(() -> client.lock(there.get(2)).tryAcquire(timeout.multipliedBy(5)))
                            .isInstanceOf(LockUnavailableException.class);
                    assertThatThrownBy(client.lock(there.get(3))::tryLock).isInstanceOf(LockUnavailableException.class);
                    client.lock(elsewhere).lock();
                    client.lock(elsewhere).unlock();
                }
            }
        }

        @ParameterizedTest
        @ValueSource(booleans = {false, true})
        void aClusterThatIsDownForWritesAloneIsAnOutageAndNotAWrongSetUp(boolean old) {
            RedisServer.Builder builder = RedisServer.builder().setting("cluster-allow-reads-when-down", "yes");
            try (RedisCluster cluster =
                            Servers.require(() -> (old ? builder.version62() : builder).startCluster(3, 0));
                    LockClient client = connect("redis-cluster://" + cluster.addresses(), Bench.PATIENCE)) {
                String name = namesOn(cluster, cluster.get(0)).get(0);
                cluster.get(2).kill();
                Bench.await(
                        "the cluster is down",
                        () -> cluster.get(0).command("CLUSTER", "INFO").contains("cluster_state:fail"));
                assertThatThrownBy(client.lock(name)::tryLock)
                        .isInstanceOf(LockUnavailableException.class)
                        .hasMessageContaining("cluster is down");
            }
        }

        /** Redis serves scripts at neither node then, and pings at both. */
        @Test
        void aSlotThatIsLeftHalfMovedIsAnErrorAndNotABusyLock() throws Exception {
            Duration timeout = Duration.ofSeconds(3);
            try (RedisCluster cluster =
                            Servers.require(() -> RedisServer.builder().startCluster(3, 0));
                    LockClient holder =
                            connect("redis-cluster://" + cluster.addresses(), Bench.PATIENCE, Bench.PATIENCE);
                    LockClient client = connect("redis-cluster://" + cluster.addresses(), Bench.PATIENCE, timeout)) {
                holder.lock(NAME).acquireAsync().get();
                String slot = Integer.toString(cluster.slot(KEY));
                RedisServer from = cluster.owner(cluster.slot(KEY));
                RedisServer to = cluster.find(node -> !node.equals(from));
                to.command("CLUSTER", "SETSLOT", slot, "IMPORTING", from.command("CLUSTER", "MYID"));
                from.command("CLUSTER", "SETSLOT", slot, "MIGRATING", to.command("CLUSTER", "MYID"));
                assertThatThrownBy(() -> client.lock(NAME).tryAcquire(timeout.multipliedBy(5)))
                        .isInstanceOf(LockUnavailableException.class)
                        .hasMessageContaining("TRYAGAIN");
                from.command("CLUSTER", "SETSLOT", slot, "STABLE");
                to.command("CLUSTER", "SETSLOT", slot, "STABLE");
            }
        }

        private List<Lease> acquire(LockClient client, List<String> names) throws Exception {
            List<Lease> leases = new ArrayList<>();
            for (String name : names) {
                leases.add(client.lock(name).acquireAsync().get());
            }
            return leases;
        }

        private List<String> namesOn(RedisCluster cluster, RedisServer node) {
            return IntStream.range(0, 60)
                    .mapToObj(i -> "lock-" + i)
                    .filter(name -> cluster.owner(cluster.slot("lockstep:{lockstep:" + name + "}"))
                            .equals(node))
                    .toList();
        }

        @Test
        void aLockSurvivesTheLossOfItsPrimary() throws Exception {
            try (RedisCluster cluster =
                    Servers.require(() -> RedisServer.builder().startCluster(3, 1))) {
                String url = "redis-cluster://" + cluster.addresses() + "?replicas=1";
                try (LockClient holder = connect(url, Duration.ofSeconds(30));
                        LockClient other = connect(
                                "redis-cluster://" + cluster.addresses(),
                                Duration.ofSeconds(30),
                                Duration.ofSeconds(60)); // a failover takes long on a busy machine
                        LockClient third = connect("redis-cluster://" + cluster.addresses(), Duration.ofSeconds(30))) {
                    Lease held = holder.lock(NAME).acquireAsync().get();
                    long token = held.token();
                    CompletableFuture<Lease> waiting = other.lock(NAME)
                            .tryAcquireAsync(Duration.ofSeconds(60))
                            .thenApply(lease -> lease.orElseThrow());
                    Bench.awaitWaiters(holder, NAME, 1);
                    cluster.owner(cluster.slot(KEY)).kill();
                    Bench.await("another has the slot", () -> hasWaiter(holder));
                    assertThat(held.isValid()).isTrue();
                    assertThat(waiting).isNotDone();
                    held.close();
                    Lease next = waiting.get(30, TimeUnit.SECONDS);
                    assertThat(next.token()).isGreaterThan(token);
                    next.close();
                    Probe.works(other, third);
                }
            }
        }

        /** Only the renewals of the lock ask the old primary, which breaks no connection. */
        @Test
        void aLockIsRenewedAtTheNextPrimaryAfterAnOrderlyFailover() throws Exception {
            Duration ttl = Duration.ofSeconds(24); // clients are paused for five while a failover is tried
            try (RedisCluster cluster =
                            Servers.require(() -> RedisServer.builder().startCluster(3, 1));
                    LockClient holder = connect("redis-cluster://" + cluster.addresses() + "?replicas=1", ttl)) {
                Lease held = holder.lock(NAME).acquireAsync().get();
                int slot = cluster.slot(KEY);
                RedisServer old = cluster.owner(slot);
                RedisServer next = cluster.find(node -> node.info("master_port").equals(Integer.toString(old.port())));
                failOver(next);
                Bench.await("all know it", () -> cluster.owner(slot).equals(next));
                Bench.await("the old one follows", () -> old.info("role").equals("slave"));
                Bench.awaitRenewal(held);
                Bench.awaitRenewal(held);
                held.close();
            }
        }

        /** In good order. On a busy machine it takes longer than the five seconds after which servers give it up. */
        private static void failOver(RedisServer next) {
            Duration givenUp = Duration.ofSeconds(6);
            long[] asked = {System.nanoTime() - givenUp.toNanos()};
            Bench.await("the replica is primary", () -> {
                boolean follows = next.info("role").equals("slave");
                if (follows && System.nanoTime() - asked[0] >= givenUp.toNanos()) {
                    asked[0] = System.nanoTime();
                    try {
                        next.command("CLUSTER", "FAILOVER");
                    } catch (ServerException e) {
                        return false; // it may have become the primary meanwhile, by an earlier try
                    }
                }
                return !follows;
            });
        }

        @Test
        void aPoolThatIsExhaustedCostsNoConnectionsOfTheOthers() throws Exception {
            try (RedisCluster cluster =
                    Servers.require(() -> RedisServer.builder().startCluster(3, 0))) {
                String url = "redis-cluster://" + cluster.addresses() + "?pool=2";
                AtomicReference<Route> made = new AtomicReference<>();
                BackendFactory factory = context -> RedisEngine.open(
                        context,
                        own -> {
                            made.set(Url.parse(url).connect(own));
                            return made.get();
                        },
                        Settings.DEFAULTS);
                try (LockClient client = LockClient.builder().backend(factory).connect();
                        ConnectThreads threads = new ConnectThreads("exhausted", 1)) {
                    client.list("");
                    Route route = made.get();
                    long wait = TimeUnit.SECONDS.toNanos(2); // enough for the answers of the others
                    for (int i = 0; i < 3; i++) {
                        for (RedisServer node : cluster.servers()) {
                            List<Connection> all = borrowAllOf(node, route);
                            assertThat(all).isNotEmpty();
                            assertThatThrownBy(() -> route.borrowAll(threads, wait))
                                    .isInstanceOf(NoSuchElementException.class);
                            all.forEach(ConnectThreads::giveBack);
                        }
                    }
                }
            }
        }

        private List<Connection> borrowAllOf(RedisServer node, Route route) throws InterruptedException {
            List<Connection> all = new ArrayList<>();
            try {
                while (true) {
                    all.add(route.borrow(new HostAndPort("127.0.0.1", node.port()), -1, 1));
                }
            } catch (NoSuchElementException e) {
                return all;
            }
        }
    }

    /** Borrows from the pool of the server that is current. */
    private static final class SwitchingRoute implements Route {
        private final BackendContext context;
        private final AtomicReference<RedisServer> current;
        private volatile RedisServer known;
        private volatile Route route;

        SwitchingRoute(BackendContext context, AtomicReference<RedisServer> current) {
            this.context = context;
            this.current = current;
        }

        private synchronized Route route() {
            RedisServer now = current.get();
            if (now != known) {
                close();
                known = now;
                route = Url.parse("redis://" + now.address()).connect(context);
            }
            return route;
        }

        @Override
        public boolean connects(int slot) {
            return route().connects(slot);
        }

        @Override
        public Connection borrow(int slot, long waitNanos) throws InterruptedException {
            return route().borrow(slot, waitNanos);
        }

        @Override
        public Connection borrow(HostAndPort node, int slot, long waitNanos) throws InterruptedException {
            return borrow(slot, waitNanos);
        }

        @Override
        public Pool<Connection> pool(int slot, HostAndPort target) {
            return route().pool(slot, target);
        }

        @Override
        public List<Connection> borrowAll(ConnectThreads threads, long waitNanos) throws InterruptedException {
            return route().borrowAll(threads, waitNanos);
        }

        @Override
        public void distrust(Connection connection, boolean timedOut) {
            route().distrust(connection, timedOut);
        }

        @Override
        public Collection<? extends Pool<Connection>> pools() {
            return route().pools();
        }

        @Override
        public void close() {
            if (route != null) {
                route.close();
            }
        }

        @Override
        public String toString() {
            return "current";
        }
    }
}
