package dev.lockstep.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockLostException;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.redis.internal.Script;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.TcpProxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Faults of some of several independent servers, and of the network between them and their clients. Quick tests run in
 * each build.
 */
@Timeout(120)
class RedlockFaultsTest {
    private static final String NAME = "order:42";
    private static final String KEY = "lockstep:{lockstep:order:42}";
    private static final Duration TTL = Duration.ofSeconds(3);
    private static final Duration TIMEOUT = Duration.ofSeconds(2);

    /** Of tests that wait for no ttl. */
    private static final Duration LONG_TTL = Duration.ofSeconds(60);

    private Redlocks set;

    @BeforeEach
    void start() {
        set = Redlocks.start(5);
    }

    @AfterEach
    void stop() throws Exception {
        if (set != null) {
            set.close();
        }
    }

    private long owners() {
        return set.field(KEY, "owner").stream()
                .filter(owner -> !owner.isEmpty())
                .count();
    }

    // ---------------------------------------------------------------- restarts

    /** The holder has only a majority, and cannot be notified of anything; then servers forget it. */
    @ParameterizedTest
    @Tag("full")
    @ValueSource(ints = {1, 3})
    void serversThatRestartAtOnceDoNotGrantALockTwice(int restarted) throws Exception {
        List<TcpProxy> proxies = set.proxies();
        LockClient holder = set.client(proxies, TTL, TIMEOUT);
        LockClient rival = set.client(TTL);
        proxies.get(3).cut();
        proxies.get(4).cut();
        Lease held = holder.lock(NAME).acquireAsync().get(20, TimeUnit.SECONDS);
        long token = held.token();
        assertThat(owners()).isEqualTo(3);
        proxies.forEach(TcpProxy::blackHole);
        for (int i = 0; i < restarted; i++) {
            set.server(i).kill();
            set.server(i).start();
        }
        Lease next = rival.lock(NAME)
                .tryAcquireAsync(Duration.ofSeconds(30))
                .get(40, TimeUnit.SECONDS)
                .orElseThrow();
        assertThat(held.isValid()).isFalse();
        assertThat(next.token()).isGreaterThan(token);
        next.close();
        assertThatThrownBy(held::close).isInstanceOf(LockLostException.class);
    }

    /** Data that came back with the restart says nothing about what was written after it was saved. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Tag("full")
    void whileTooFewServersHaveAVoteTheLockIsUnavailableAndNotBusy(boolean dataIsKept) throws Exception {
        LockClient client = set.client(Redlocks.url(set.servers()), LONG_TTL, Bench.PATIENCE);
        for (int i = 0; i < 3; i++) {
            RedisServer server = set.server(i);
            server.command("SET", "kept", "yes");
            server.command("CONFIG", "SET", "save", dataIsKept ? "3600 1" : "");
            server.restart();
            assertThat(server.command("GET", "kept")).isEqualTo(dataIsKept ? "yes" : "");
        }
        Bench.await("the servers are met again", () -> {
            List<String> runs = set.field("lockstep:redlock", "run");
            return set.servers().stream().allMatch(server -> runs.contains(server.info("run_id")));
        });
        assertThatThrownBy(client.lock(NAME)::tryLock)
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining(NAME)
                .hasMessageContaining("vote");
        assertThatThrownBy(() -> client.lock(NAME).tryAcquire(Duration.ofMillis(300)))
                .isInstanceOf(LockUnavailableException.class);
        for (int i = 0; i < 3; i++) {
            Redlocks.age(set.server(i), 5);
        }
        assertThat(client.lock(NAME).tryLock()).isTrue();
        client.lock(NAME).unlock();
    }

    @Test
    @Tag("full")
    void allServersMayRestartOneAfterAnotherWhileALockIsHeld() throws Exception {
        LockClient client = set.client(TTL);
        Lease held = client.lock(NAME).acquireAsync().get();
        for (RedisServer server : set.servers()) {
            server.restart();
            Bench.await(
                    "the lock is back on " + server,
                    () -> !server.command("HGET", KEY, "owner").isEmpty());
            assertThat(held.isValid()).isTrue();
        }
        Bench.letPass(TTL);
        assertThat(held.isValid()).isTrue();
        LockClient rival = set.client(TTL);
        assertThat(rival.lock(NAME).tryLock()).isFalse();
        held.close();
        Bench.await("it is released everywhere", () -> owners() == 0);
    }

    @Test
    @Tag("full")
    void theLongestTtlIsKnownToAll() {
        set.client(TTL);
        set.client(Duration.ofSeconds(90));
        set.client(Duration.ofSeconds(7));
        Bench.await(
                "all know it",
                () -> set.field("lockstep:redlock", "longest").stream().allMatch("90000"::equals));
    }

    // ---------------------------------------------------------------- minorities

    @Test
    @Tag("full")
    void aMinorityThatIsDownIsNotMissedAndComesBackByItself() throws Exception {
        LockClient client = set.client(TTL);
        set.server(0).kill();
        set.server(3).kill();
        Lease held = client.lock(NAME).acquireAsync().get(20, TimeUnit.SECONDS);
        for (int i = 0; i < 20; i++) {
            client.lock("another").lock();
            client.lock("another").unlock();
        }
        LockClient late = set.client(TTL); // connects without them, too
        assertThat(late.lock(NAME).tryLock()).isFalse();
        Bench.letPass(TTL);
        assertThat(held.isValid()).isTrue();
        set.server(0).start();
        set.server(3).start();
        for (int i : new int[] {0, 3}) {
            RedisServer server = set.server(i);
            Bench.await(
                    "it has the lock too",
                    () -> server.command("HGET", KEY, "owner").length() > 0);
        }
        held.close();
        assertThat(late.lock(NAME).tryLock()).isTrue();
        late.lock(NAME).unlock();
    }

    @Test
    @Tag("full")
    void aMinorityThatIsCutOffOrSilentCostsNothing() throws Exception {
        List<TcpProxy> proxies = set.proxies();
        LockClient client = set.client(proxies, TTL, TIMEOUT);
        DistributedLock lock = client.lock(NAME);
        lock.lock();
        lock.unlock();
        proxies.get(1).blackHole();
        proxies.get(2).stall(TcpProxy.Direction.REPLIES);
        long start = System.nanoTime();
        for (int i = 0; i < 20; i++) {
            lock.lock();
            lock.unlock();
        }
        // Each pair would take two timeouts if it waited for them, and one if a half of it did.
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(TIMEOUT.multipliedBy(15));
        proxies.forEach(TcpProxy::heal);
        LockClient rival = set.client(TTL);
        rival.lock(NAME).lock();
        rival.lock(NAME).unlock();
        Bench.await("nothing is left", () -> owners() == 0);
    }

    @Test
    @Tag("full")
    void aSlowMinorityDelaysNeitherGrantNorRelease() throws Exception {
        List<TcpProxy> proxies = set.proxies();
        LockClient client = set.client(proxies, Duration.ofSeconds(30), Duration.ofSeconds(10));
        DistributedLock lock = client.lock(NAME);
        lock.lock();
        lock.unlock();
        Duration slow = Duration.ofSeconds(3);
        proxies.get(0).delay(slow);
        proxies.get(4).delay(slow);
        long start = System.nanoTime();
        for (int i = 0; i < 10; i++) {
            try (Lease lease = lock.acquire()) {
                assertThat(lease.remaining()).isLessThan(Duration.ofSeconds(30));
            }
        }
        // Each grant and each release would take as long, there and back, if it waited for them.
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(slow.multipliedBy(9));
        proxies.forEach(proxy -> proxy.delay(Duration.ZERO));
        Bench.await("nothing is left", () -> owners() == 0);
    }

    /** Evenly slow servers are a network that is slow, and the time is not the holder's. */
    @Test
    @Tag("full")
    void validityIsLessByTheTimeThatTheRoundsTook() throws Exception {
        List<TcpProxy> proxies = set.proxies();
        LockClient client = set.client(proxies, TTL, TIMEOUT);
        proxies.forEach(proxy -> proxy.delay(TcpProxy.Direction.REPLIES, Duration.ofMillis(300)));
        try (Lease lease = client.lock(NAME).acquire()) {
            assertThat(lease.remaining()).isPositive().isLessThan(TTL.minusMillis(600));
        }
    }

    @Test
    @Tag("full")
    void aServerThatRefusesTheUserIsToleratedWhileOthersRestart() throws Exception {
        LockClient client = set.client(Redlocks.url(set.servers()), TTL, Bench.PATIENCE);
        refuseScripts(0);
        set.server(1).kill();
        set.server(2).kill();
        CompletableFuture<Optional<Lease>> asked = client.lock(NAME).tryAcquireAsync(Duration.ofSeconds(30));
        set.server(1).start();
        set.server(2).start();
        asked.get(40, TimeUnit.SECONDS).orElseThrow().close();
        refuseScripts(1);
        refuseScripts(2);
        assertThatThrownBy(client.lock(NAME)::lock)
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining("rights");
    }

    @Test
    @Tag("full")
    void serversThatRefuseTheUserBesideDeadOnesAreAnErrorAndNotABusyLock() throws Exception {
        unusable("NOPERM", () -> {
            refuseScripts(0);
            set.server(1).kill();
            set.server(2).kill();
        });
    }

    @Test
    @Tag("full")
    void aMajorityThatBecomesReplicasIsAnErrorAndNotABusyLock() throws Exception {
        try (RedisServer primary = RedisServer.builder().start()) {
            unusable("READONLY", () -> {
                for (int i = 0; i < 3; i++) {
                    RedisServer server = set.server(i);
                    server.command("REPLICAOF", "127.0.0.1", Integer.toString(primary.port()));
                    Bench.await(
                            "it follows",
                            () -> server.info("master_link_status").equals("up"));
                }
            });
        }
    }

    private void unusable(String why, Runnable fault) throws Exception {
        Duration timeout = Duration.ofSeconds(4);
        LockClient holder = set.client(Redlocks.url(set.servers()), Bench.PATIENCE, timeout);
        LockClient client = set.client(Redlocks.url(set.servers()), Bench.PATIENCE, timeout);
        holder.lock("held").acquireAsync().get();
        CompletableFuture<Lease> waiting = client.lock("held").acquireAsync();
        Bench.awaitWaiters(holder, "held", 1);
        fault.run();
        assertThatThrownBy(() -> waiting.get(40, TimeUnit.SECONDS))
                .hasCauseInstanceOf(LockUnavailableException.class)
                .hasMessageContaining(why);
        CompletableFuture<Lease> asked = client.lock("asked for").acquireAsync();
        assertThatThrownBy(() -> asked.get(40, TimeUnit.SECONDS))
                .hasCauseInstanceOf(LockUnavailableException.class)
                .hasMessageContaining(why);
        assertThatThrownBy(() -> client.lock("for a time").tryAcquire(timeout.multipliedBy(5)))
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining(why);
        assertThatThrownBy(client.lock("at once")::tryLock).isInstanceOf(LockUnavailableException.class);
    }

    @Test
    @Tag("full")
    void aReleaseThatServersCannotWriteIsRepeatedUntilTheyCan() throws Exception {
        LockClient client = set.client(Redlocks.url(set.servers()), Duration.ofMinutes(10), Bench.PATIENCE);
        Lease held = client.lock(NAME).acquireAsync().get();
        Bench.await("it is written everywhere", () -> owners() == 5);
        set.servers().forEach(server -> server.command("CONFIG", "SET", "min-replicas-to-write", "1"));
        CompletableFuture<Void> released = held.closeAsync();
        Bench.letPass(Duration.ofSeconds(1));
        set.servers().forEach(server -> server.command("CONFIG", "SET", "min-replicas-to-write", "0"));
        Bench.await("it is released everywhere", () -> owners() == 0);
        released.get(20, TimeUnit.SECONDS);
    }

    private void refuseScripts(int server) {
        set.server(server).command("ACL", "SETUSER", "default", "-eval", "-evalsha");
    }

    @Test
    @Tag("full")
    void aMajorityThatIsDownIsAnErrorUntilItIsBack() throws Exception {
        LockClient client = set.client(TTL);
        for (int i = 0; i < 3; i++) {
            set.server(i).kill();
        }
        assertThatThrownBy(client.lock(NAME)::tryLock).isInstanceOf(LockUnavailableException.class);
        assertThatThrownBy(client.lock(NAME)::lock).isInstanceOf(LockUnavailableException.class);
        assertThatThrownBy(() -> set.client(TTL))
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("2 of 5");
        for (int i = 0; i < 3; i++) {
            set.server(i).start();
            Redlocks.age(set.server(i), 5);
        }
        client.lock(NAME).tryAcquire(Duration.ofSeconds(20)).orElseThrow().close();
        Bench.await("nothing is left", () -> owners() == 0);
    }

    // ---------------------------------------------------------------- replies, stalls, lost data

    @Test
    void lostRepliesOfAllServersAreAskedForAgain() throws Exception {
        List<TcpProxy> proxies = set.proxies();
        LockClient client = set.client(proxies, LONG_TTL, Bench.PATIENCE);
        LockClient other = set.client(Redlocks.url(set.servers()), LONG_TTL, Bench.PATIENCE);
        DistributedLock lock = client.lock(NAME);
        for (int i = 0; i < 5; i++) {
            List<CompletableFuture<Void>> lost = lose(proxies);
            lock.lock();
            for (CompletableFuture<Void> each : lost) {
                each.get(20, TimeUnit.SECONDS);
            }
            assertThat(other.lock(NAME).tryLock()).isFalse();
            lost = lose(proxies);
            lock.unlock();
            for (CompletableFuture<Void> each : lost) {
                each.get(20, TimeUnit.SECONDS);
            }
            other.lock(NAME).lock();
            other.lock(NAME).unlock();
        }
        Bench.await("nothing is left", () -> owners() == 0);
    }

    private static List<CompletableFuture<Void>> lose(List<TcpProxy> proxies) {
        return proxies.stream()
                .map(proxy -> proxy.dropReplyTo(NAME, Duration.ZERO))
                .toList();
    }

    /** The first claim has a majority and pauses before it writes its token; the next claim is granted meanwhile. */
    @Test
    @Tag("full")
    void aClaimThatStallsBetweenTheRoundsGetsNoTokenAboveItsSuccessors() throws Exception {
        Duration ttl = Duration.ofSeconds(3);
        List<TcpProxy> proxies = set.proxies();
        LockClient stalled = set.client(proxies, ttl, Duration.ofSeconds(30));
        LockClient rival = set.client(ttl);
        // Time to see that it has all, and to stop it before it writes: half the ttl.
        proxies.forEach(proxy -> proxy.delay(TcpProxy.Direction.REPLIES, ttl.dividedBy(2)));
        CompletableFuture<Lease> waiting = stalled.lock(NAME).acquireAsync();
        Bench.await("it has all servers", () -> owners() == 5);
        proxies.forEach(proxy -> proxy.stall(TcpProxy.Direction.REQUESTS));
        Lease held = rival.lock(NAME).acquireAsync().get(20, TimeUnit.SECONDS);
        long token = held.token();
        proxies.forEach(proxy -> {
            proxy.delay(Duration.ZERO);
            proxy.heal();
        });
        Bench.letPass(ttl);
        assertThat(waiting).isNotDone();
        assertThat(held.isValid()).isTrue();
        assertThat(set.field(KEY, "token").stream().mapToLong(Long::parseLong)).allMatch(each -> each <= token / 1024);
        held.close();
        try (Lease next = waiting.get(20, TimeUnit.SECONDS)) {
            assertThat(next.token()).isGreaterThan(token);
        }
    }

    /** A server that was the claim's, another's and the claim's again has given a token since. */
    @Test
    void aTokenIsNotWrittenWhereAnotherWasWrittenSince() {
        RedisServer server = set.server(0);
        server.command("HSET", KEY, "owner", "me", "until", "9999999999999", "token", "7");
        assertThat(confirm(server, "me", 7, 9)).startsWith("1");
        assertThat(confirm(server, "me", 7, 10)).isEqualTo("0");
        assertThat(confirm(server, "you", 9, 10)).isEqualTo("0");
        server.command("HSET", KEY, "until", "1");
        assertThat(confirm(server, "me", 9, 10)).isEqualTo("0");
        assertThat(server.command("HGET", KEY, "token")).isEqualTo("9");
    }

    private static String confirm(RedisServer server, String id, long seen, long token) {
        String script = new String(Script.REDLOCK_CONFIRM.source(), StandardCharsets.UTF_8);
        String[] keys = {KEY, KEY + ":queue", KEY + ":readers", KEY + ":claims", KEY + ":gone", "lockstep:redlock"};
        List<String> words = new ArrayList<>(List.of("EVAL", script, "6"));
        words.addAll(List.of(keys));
        words.addAll(List.of(id, Long.toString(seen), Long.toString(token), "1000", "5"));
        return server.command(words.toArray(String[]::new));
    }

    @Test
    @Tag("full")
    void aMinorityThatLosesItsDataCostsNoLockAndAMajorityIsReported() throws Exception {
        LockClient client = set.client(TTL);
        Lease held = client.lock(NAME).acquireAsync().get();
        set.server(0).command("FLUSHALL");
        set.server(1).command("FLUSHALL");
        Bench.letPass(TTL);
        assertThat(held.isValid()).isTrue();
        assertThat(owners()).isEqualTo(5);
        set.servers().forEach(server -> server.command("FLUSHALL"));
        Bench.await("the loss is reported", () -> !held.isValid());
        assertThatThrownBy(held::close).isInstanceOf(LockLostException.class);
    }
}
