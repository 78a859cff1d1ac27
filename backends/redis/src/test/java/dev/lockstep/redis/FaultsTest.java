package dev.lockstep.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockOptions;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.ReleaseNotConfirmedException;
import dev.lockstep.redis.internal.ConnectThreads;
import dev.lockstep.redis.internal.Route;
import dev.lockstep.redis.internal.Script;
import dev.lockstep.redis.internal.Settings;
import dev.lockstep.redis.internal.Url;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.TcpProxy;
import dev.lockstep.spi.BackendFactory;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.util.Pool;

/** Faults of a Redis server, and of the network between it and its clients. */
@Timeout(120)
class FaultsTest extends OneServerTestCase {
    @ParameterizedTest
    @ValueSource(strings = {"pubsub", "normal", "both"})
    void aWaiterWhoseConnectionsAreKilledIsServed(String type) throws Exception {
        Bench bench = bench();
        LockClient holder = bench.patientClient("");
        LockClient other = bench.patientClient("");
        Lease held = holder.lock(NAME).acquire();
        CompletableFuture<Lease> waiting = waiter(other, holder);
        for (String kind : type.equals("both") ? new String[] {"pubsub", "normal"} : new String[] {type}) {
            bench.server().command("CLIENT", "KILL", "TYPE", kind);
        }
        held.close(); // its message finds no subscriber
        serves(waiting, Bench.PATIENCE); // long before any ttl
        holder.lock(NAME).lock();
        holder.lock(NAME).unlock();
    }

    /** However long a request may take: a renewal on a connection that is silent is given up while there is time for another. */
    @Test
    void aSilentConnectionCostsNoLock() throws Exception {
        Duration ttl = Duration.ofSeconds(12);
        try (TcpProxy proxy = TcpProxy.to(bench().server());
                LockClient client = LockClient.builder()
                        .url("redis://127.0.0.1:" + proxy.port())
                        .ttl(ttl)
                        .requestTimeout(ttl.multipliedBy(3))
                        .connect();
                Lease held = client.lock(NAME).acquire()) {
            String renew = new String(Script.RENEW.hash(), StandardCharsets.US_ASCII);
            proxy.dropReplyTo(renew, ttl.multipliedBy(3)).get(60, TimeUnit.SECONDS);
            TimeUnit.MILLISECONDS.sleep(ttl.toMillis()); // what is shown is that time passes and nothing happens
            assertThat(held.isValid()).isTrue();
        }
    }

    /**
     * Connecting to such a server takes a timeout, too: a caller that needs a connection must not wait for that timeout
     * as well.
     */
    @Test
    @Tag("full")
    void aSilentServerThatAsksForAPasswordCostsOneTimeout() throws Exception {
        Duration timeout = Duration.ofSeconds(2);
        TcpProxy proxy = bench(RedisServer.builder().password("s3cret")).proxy();
        try (LockClient client = LockClient.builder()
                .url("redis://:s3cret@127.0.0.1:" + proxy.port())
                .requestTimeout(timeout)
                .connect()) {
            client.lock(NAME).lock();
            proxy.blackHole();
            for (ThrowingCallable call : List.<ThrowingCallable>of(
                    () -> client.lock(NAME).unlock(),
                    () -> client.lock("a").tryLock(),
                    () -> client.lock("b").lock(),
                    () -> client.lock("c").tryLock(100, TimeUnit.MILLISECONDS))) {
                long start = System.nanoTime();
                assertThatThrownBy(call)
                        .isInstanceOfAny(LockUnavailableException.class, ReleaseNotConfirmedException.class);
                assertThat(Duration.ofNanos(System.nanoTime() - start))
                        .isLessThan(timeout.multipliedBy(19).dividedBy(10));
            }
            proxy.heal();
        }
    }

    @Test
    void aDeadWaiterAtTheHeadCostsALockThatIsNotFairASecond() throws Exception {
        takenPastADeadWaiter(LockOptions.defaults(), Duration.ofSeconds(10), Duration.ofSeconds(1));
    }

    @Test
    void aDeadWaiterAtTheHeadCostsAFairLockItsExpiry() throws Exception {
        Duration expiry = Duration.ofSeconds(2);
        takenPastADeadWaiter(FAIR, expiry, expiry.plusMillis(700)); // and until a client looks
        assertThat(Settings.DEFAULTS.waiterExpiry()).isEqualTo(Duration.ofSeconds(5));
    }

    /** A busy machine can only make it longer, so one try of five must be within the bound. */
    private void takenPastADeadWaiter(LockOptions options, Duration expiry, Duration bound) throws Exception {
        Bench bench = bench();
        Duration quickest = Duration.ofDays(1);
        for (int i = 0; i < 5 && quickest.compareTo(bound) > 0; i++) {
            Duration taken =
                    takenPastADeadWaiter(bench, NAME + i, options, "?waiterExpiry=" + expiry.toMillis() + "ms");
            quickest = taken.compareTo(quickest) < 0 ? taken : quickest;
        }
        assertThat(quickest).isLessThan(bound);
    }

    private static Duration takenPastADeadWaiter(Bench bench, String name, LockOptions options, String urlOptions)
            throws Exception {
        String url = "redis://" + bench.server().address() + urlOptions;
        Duration ttl = Duration.ofSeconds(30);
        LockClient holder = bench.client(url, ttl, Bench.PATIENCE);
        LockClient other = bench.client(url, ttl, Bench.PATIENCE);
        TcpProxy proxy = bench.proxy();
        LockClient dead = bench.client("redis://127.0.0.1:" + proxy.port() + urlOptions, ttl, Bench.PATIENCE);
        Lease held = holder.lock(name, options).acquireAsync().get();
        dead.lock(name, options).tryAcquireAsync(Duration.ofMinutes(1));
        Bench.awaitWaiters(holder, name, 1);
        CompletableFuture<Lease> waiting = other.lock(name, options).acquireAsync();
        Bench.awaitWaiters(holder, name, 2);
        proxy.blackHole();
        long start = System.nanoTime();
        held.close();
        waiting.get(30, TimeUnit.SECONDS).close();
        Duration taken = Duration.ofNanos(System.nanoTime() - start);
        proxy.heal(); // else closing would wait
        return taken;
    }

    @Test
    void aServerThatGoesAwayWhileAClientConnectsIsUnavailable() {
        TcpProxy proxy = bench().proxy();
        BackendFactory factory = context -> RedisEngine.open(
                context,
                itsContext -> new VanishingRoute(
                        Url.parse("redis://127.0.0.1:" + proxy.port()).connect(itsContext), proxy),
                Settings.DEFAULTS);
        assertThatThrownBy(LockClient.builder().backend(factory)::connect).isInstanceOf(LockUnavailableException.class);
    }

    /** The server goes away when connections to all primaries have been lent: they break, and cannot be replaced. */
    private record VanishingRoute(Route route, TcpProxy proxy) implements Route {
        @Override
        public Collection<? extends Pool<Connection>> pools() {
            return route.pools();
        }

        @Override
        public boolean connects(int slot) {
            return route.connects(slot);
        }

        @Override
        public Connection borrow(int slot, long waitNanos) throws InterruptedException {
            return route.borrow(slot, waitNanos);
        }

        @Override
        public Connection borrow(HostAndPort node, int slot, long waitNanos) throws InterruptedException {
            return route.borrow(node, slot, waitNanos);
        }

        @Override
        public Pool<Connection> pool(int slot, HostAndPort target) {
            return route.pool(slot, target);
        }

        @Override
        public List<Connection> borrowAll(ConnectThreads threads, long waitNanos) throws InterruptedException {
            List<Connection> connections = route.borrowAll(threads, waitNanos);
            proxy.cut();
            return connections;
        }

        @Override
        public void distrust(Connection connection, boolean timedOut) {
            route.distrust(connection, timedOut);
        }

        @Override
        public void close() {
            route.close();
        }
    }

    @Test
    void aServerThatBecomesAReplicaIsWaitedFor() throws Exception {
        Bench bench = bench();
        LockClient client = bench.client(bench.server().url(), Bench.PATIENCE, Bench.PATIENCE);
        try (RedisServer primary = RedisServer.builder().start()) {
            follow(bench.server(), primary);
            CompletableFuture<Optional<Lease>> asked = client.lock(NAME).tryAcquireAsync(Bench.PATIENCE);
            Bench.letPass(Duration.ofSeconds(2));
            assertThat(asked).isNotDone();
            bench.server().command("REPLICAOF", "NO", "ONE");
            asked.get(20, TimeUnit.SECONDS).orElseThrow().close();
        }
    }

    @Tag("full")
    @ParameterizedTest
    @ValueSource(strings = {"", "?queue=off"})
    void aServerThatStaysAReplicaIsAnErrorAndNotABusyLock(String options) throws Exception {
        Bench bench = bench();
        Duration timeout = Duration.ofSeconds(4);
        LockClient client = bench.client(bench.server().url() + options, Duration.ofSeconds(30), timeout);
        LockClient holder = bench.client(bench.server().url() + options, Duration.ofSeconds(30), timeout);
        holder.lock("held").acquireAsync().get();
        CompletableFuture<Lease> waiting = client.lock("held").acquireAsync();
        if (options.isEmpty()) {
            Bench.awaitWaiters(holder, "held", 1);
        }
        try (RedisServer primary = RedisServer.builder().start()) {
            follow(bench.server(), primary);
            DistributedLock lock = client.lock(NAME);
            refused("READONLY", () -> waiting.get(20, TimeUnit.SECONDS));
            refused("READONLY", () -> lock.acquireAsync().get(20, TimeUnit.SECONDS));
            refused("READONLY", () -> lock.tryAcquire(timeout.multipliedBy(3)));
            // Shorter than refusals are retried, and long enough for a ping of the engine.
            for (int i = 0; i < 2; i++) {
                assertThatThrownBy(() -> lock.tryAcquire(timeout.multipliedBy(7).dividedBy(10)))
                        .isInstanceOf(LockUnavailableException.class);
            }
            assertThatThrownBy(lock::tryLock).isInstanceOf(LockUnavailableException.class);
        }
    }

    /** Its knowledge of the lock may be out of date. */
    @ParameterizedTest
    @ValueSource(strings = {"", "?queue=off"})
    void aReplicaThatKnowsOfAHolderIsAnErrorAndNotABusyLock(String options) throws Exception {
        Bench bench = bench();
        Duration timeout = Duration.ofSeconds(4);
        LockClient client = bench.client(bench.server().url() + options, Duration.ofSeconds(30), timeout);
        try (RedisServer primary = RedisServer.builder().start();
                LockClient elsewhere = bench.client(primary.url() + options, Duration.ofSeconds(30), timeout);
                Lease held = elsewhere.lock(NAME).acquire()) {
            follow(bench.server(), primary);
            Bench.await("it knows", () -> !bench.server().command("DBSIZE").equals("0"));
            assertThatThrownBy(client.lock(NAME)::tryLock).isInstanceOf(LockUnavailableException.class);
            refused("READONLY", () -> client.lock(NAME).tryAcquire(timeout.multipliedBy(3)));
            assertThat(held.isValid()).isTrue();
        }
    }

    @Test
    void aClientThatClosesLeavesNoConnectionEvenIfSomeWereJustBroken() {
        Bench bench = bench();
        TcpProxy proxy = bench.proxy();
        for (int i = 0; i < 10; i++) {
            try (LockClient client = bench.patientClient(proxy)) {
                client.lock(NAME).lock();
                client.lock(NAME).unlock();
                long before = proxy.acceptedConnections();
                bench.server().command("CLIENT", "KILL", "TYPE", "pubsub");
                Bench.await("it listens again", () -> proxy.acceptedConnections() > before);
            }
        }
        Bench.await("none is left", () -> proxy.openConnections() == 0);
    }

    private static void follow(RedisServer server, RedisServer primary) {
        server.command("REPLICAOF", "127.0.0.1", Integer.toString(primary.port()));
        Bench.await("it follows", () -> server.info("master_link_status").equals("up"));
    }

    /** Redis 6.2 answers pings all the same. */
    @Test
    void aReplicaWithoutItsPrimaryIsAnErrorAndNotABusyLock() {
        Bench bench = bench(RedisServer.builder().version62().setting("replica-serve-stale-data", "no"));
        Duration timeout = Duration.ofSeconds(4);
        LockClient client = bench.client(bench.server().url(), Duration.ofSeconds(30), timeout);
        try (RedisServer primary = RedisServer.builder().version62().start()) {
            follow(bench.server(), primary);
        }
        Bench.await(
                "it is alone", () -> bench.server().info("master_link_status").equals("down"));
        refused("MASTERDOWN", () -> client.lock("one").acquireAsync().get(20, TimeUnit.SECONDS));
        refused("MASTERDOWN", () -> client.lock("another").tryAcquire(timeout.multipliedBy(3)));
    }

    @Test
    void aWritableReplicaIsAnErrorForClientsThatNeedConfirmations() {
        Bench bench = bench(RedisServer.builder().setting("replica-read-only", "no"));
        Duration timeout = Duration.ofSeconds(4);
        LockClient client = bench.client(bench.server().url() + "?replicas=1", Duration.ofSeconds(30), timeout);
        try (RedisServer primary = RedisServer.builder().start()) {
            follow(bench.server(), primary);
            refused("WAIT", () -> client.lock("one").acquireAsync().get(20, TimeUnit.SECONDS));
            refused("WAIT", () -> client.lock("another").tryAcquire(timeout.multipliedBy(3)));
        }
    }

    private static void refused(String why, ThrowingCallable call) {
        assertThatThrownBy(call)
                .extracting(error -> error instanceof ExecutionException ? error.getCause() : error)
                .asInstanceOf(InstanceOfAssertFactories.throwable(LockUnavailableException.class))
                .hasMessageContaining(why);
    }

    @ParameterizedTest
    @ValueSource(strings = {"redis", "redis-cluster"})
    void aServerThatRejectsClientsIsWaitedFor(String scheme) throws Exception {
        int most = 8;
        boolean cluster = scheme.equals("redis-cluster");
        Bench bench = bench(RedisServer.builder()
                .setting("maxclients", Integer.toString(most))
                .setting("cluster-enabled", cluster ? "yes" : "no"));
        if (cluster) {
            bench.server().command("CLUSTER", "ADDSLOTSRANGE", "0", "16383");
            Bench.await(
                    "it serves all slots",
                    () -> bench.server().command("CLUSTER", "INFO").contains("cluster_state:ok"));
        }
        String url = scheme + "://" + bench.server().address();
        LockClient client = bench.client(url, Duration.ofSeconds(2), Duration.ofSeconds(10));
        List<Socket> crowd = new ArrayList<>();
        try {
            crowd.add(new Socket("127.0.0.1", bench.server().port()));
            String kill = "CLIENT KILL TYPE normal SKIPME yes\r\n";
            crowd.get(0).getOutputStream().write(kill.getBytes(StandardCharsets.US_ASCII));
            assertThat(crowd.get(0).getInputStream().read()).isEqualTo(':');
            for (int i = 0; i < most; i++) {
                crowd.add(new Socket("127.0.0.1", bench.server().port()));
            }
            assertThatThrownBy(client.lock(NAME)::tryLock)
                    .isInstanceOf(LockUnavailableException.class)
                    .hasMessageContaining(NAME);
            assertThatThrownBy(() -> bench.client(url, Duration.ofSeconds(2)))
                    .isInstanceOf(LockUnavailableException.class);
        } finally {
            for (Socket one : crowd) {
                one.close();
            }
        }
        assertThat(client.lock(NAME).tryLock(20, TimeUnit.SECONDS)).isTrue();
        client.lock(NAME).unlock();
    }

    @Test
    void aServerThatIsFullIsAnErrorAndNotABusyLock() {
        Bench bench = bench();
        LockClient client = bench.clientGivingUpSoon(bench.server().url());
        client.lock(NAME).lock();
        bench.server().command("CONFIG", "SET", "maxmemory", "1");
        assertThatThrownBy(client.lock("another")::lock)
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("another")
                .hasMessageContaining("OOM");
        assertThatThrownBy(client.lock("another")::tryLock).isInstanceOf(LockUnavailableException.class);
        bench.server().command("CONFIG", "SET", "maxmemory", "0");
        client.lock("another").lock();
        client.lock("another").unlock();
        client.lock(NAME).unlock();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "?queue=off"})
    void aReleaseThatTheServerCannotWriteIsRepeatedUntilItCan(String options) throws Exception {
        Bench bench = bench();
        LockClient client = bench.patientClient(options);
        Lease held = client.lock(NAME).acquireAsync().get();
        bench.server().command("CONFIG", "SET", "min-replicas-to-write", "1");
        CompletableFuture<Void> released = held.closeAsync();
        Bench.letPass(Duration.ofSeconds(1));
        assertThat(released).isNotDone();
        bench.server().command("CONFIG", "SET", "min-replicas-to-write", "0");
        released.get(20, TimeUnit.SECONDS);
        assertThat(bench.patientClient(options).lock(NAME).tryLock()).isTrue();
    }

    @Test
    void aKeyOfAnotherTypeInTheLocksPlaceIsAnError() {
        Bench bench = bench();
        LockClient queued = bench.patientClient("");
        LockClient plain = bench.patientClient("?queue=off");
        bench.server().command("LPUSH", KEY, "x");
        for (LockClient client : new LockClient[] {queued, plain}) {
            assertThatThrownBy(client.lock(NAME)::lock)
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining(NAME)
                    .hasMessageContaining("another program");
            assertThatThrownBy(client.lock(NAME)::tryLock).isInstanceOf(LockConfigurationException.class);
            assertThatThrownBy(() -> client.inspect(NAME)).isInstanceOf(LockConfigurationException.class);
        }
        bench.server().command("DEL", KEY);
        // The two kinds of lock do not mistake each other's keys for their own either.
        plain.lock(NAME).lock();
        assertThatThrownBy(queued.lock(NAME)::tryLock).isInstanceOf(LockConfigurationException.class);
        plain.lock(NAME).unlock();
    }

    @Test
    void aLostReplyToAnAcquireAndToAReleaseIsAskedForAgain() throws Exception {
        Bench bench = bench();
        TcpProxy proxy = bench.proxy();
        LockClient client = bench.patientClient(proxy);
        LockClient other = bench.patientClient("");
        DistributedLock lock = client.lock(NAME);
        for (int i = 0; i < 20; i++) {
            CompletableFuture<Void> lost = proxy.dropReplyTo(NAME, Duration.ZERO);
            lock.lock();
            lost.get(20, TimeUnit.SECONDS);
            assertThat(other.inspect(NAME).holders()).hasSize(1);
            lost = proxy.dropReplyTo(NAME, Duration.ZERO);
            lock.unlock();
            lost.get(20, TimeUnit.SECONDS);
            assertThat(other.lock(NAME).tryLock()).isTrue();
            other.lock(NAME).unlock();
        }
        Bench.await(
                "nothing is left but word of the claims that are gone",
                () -> bench.keysInUse().stream().allMatch(key -> key.endsWith(":gone")));
    }

    @Test
    void aRenewalOfALockThatWasReleasedMeanwhileIsNoLoss() throws Exception {
        Bench bench = bench();
        TcpProxy proxy = bench.proxy();
        DistributedLock lock = bench.client(
                        "redis://127.0.0.1:" + proxy.port(), Duration.ofSeconds(12), Duration.ofSeconds(10))
                .lock(NAME);
        lock.acquire().close(); // the server knows the scripts from here on
        Lease lease = lock.acquire();
        Bench.awaitRenewal(lease);
        // The next renewal arrives after the release, whose reply is lost, and before that is tried again.
        proxy.delay(TcpProxy.Direction.REQUESTS, Duration.ofMillis(300));
        long before = proxy.bytes(TcpProxy.Direction.REQUESTS);
        Bench.await(
                "a renewal is on its way, which is longer than pings are",
                () -> proxy.bytes(TcpProxy.Direction.REQUESTS) - before > 100);
        proxy.delay(TcpProxy.Direction.REQUESTS, Duration.ZERO);
        CompletableFuture<Void> lost = proxy.dropReplyTo(NAME, Duration.ofMillis(600));
        lease.closeAsync().get(20, TimeUnit.SECONDS);
        lost.get(20, TimeUnit.SECONDS);
    }

    @Test
    void aSlowScriptOfOthersIsWaitedFor() throws Exception {
        Bench bench = bench();
        LockClient client = bench.patientClient("");
        bench.server().command("CLIENT", "PAUSE", "700", "ALL");
        client.lock(NAME).lock();
        client.lock(NAME).unlock();
    }

    @Test
    void interruptsAtRandomLeaveNothing() throws Exception {
        Bench bench = bench();
        // A ghost of a hold would be renewed every four seconds, and a ghost of a waiter looks more often than that.
        Duration ttl = Duration.ofSeconds(12);
        LockClient first = bench.client(bench.server().url(), ttl, Bench.PATIENCE);
        LockClient second = bench.client(bench.server().url(), ttl, Bench.PATIENCE);
        Random random = new Random(42);
        DistributedLock[] locks = {first.lock(NAME), second.lock(NAME)};
        for (int i = 0; i < 1_000; i++) {
            DistributedLock lock = locks[i % 2];
            boolean contended = random.nextBoolean();
            Lease held = contended ? locks[(i + 1) % 2].acquireAsync().get() : null;
            Thread thread = new Thread(() -> {
                try {
                    lock.lockInterruptibly();
                    lock.unlock();
                } catch (InterruptedException e) {
                    // As it should be.
                }
            });
            thread.start();
            long start = System.nanoTime();
            long pause = random.nextInt(600_000);
            while (System.nanoTime() - start < pause) {
                Thread.onSpinWait();
            }
            thread.interrupt();
            thread.join();
            if (held != null) {
                held.close();
            }
        }
        Bench.await("no key is in use", () -> bench.keysInUse().isEmpty());
        long before = Calls.of(bench.server(), "evalsha", "eval");
        Bench.letPass(Duration.ofSeconds(6));
        assertThat(Calls.of(bench.server(), "evalsha", "eval"))
                .as("renewals and looks for nobody")
                .isEqualTo(before);
    }
}
