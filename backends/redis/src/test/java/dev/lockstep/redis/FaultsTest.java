package dev.lockstep.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockLostException;
import dev.lockstep.LockOptions;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.LossReason;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.TcpProxy;
import java.time.Duration;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What goes wrong with a Redis server, and between it and its clients. */
@Timeout(120)
class FaultsTest {
    private static final String NAME = "order:42";
    private static final String KEY = "lockstep:{lockstep:order:42}";
    private static final LockOptions FAIR = LockOptions.defaults().fair();

    private Bench bench;

    private Bench bench(RedisServer.Builder builder) {
        bench = new Bench(Servers.require(builder::start));
        return bench;
    }

    private Bench bench() {
        return bench(RedisServer.builder());
    }

    @AfterEach
    void stop() throws Exception {
        if (bench != null) {
            bench.close();
        }
    }

    private static CompletableFuture<Lease> waiter(LockClient client, LockClient observer) {
        CompletableFuture<Lease> waiting = client.lock(NAME).acquireAsync();
        Bench.awaitWaiters(observer, NAME, 1);
        return waiting;
    }

    private static void serves(CompletableFuture<Lease> waiting, Duration within) throws Exception {
        waiting.get(within.toMillis(), TimeUnit.MILLISECONDS).close();
    }

    @Test
    void aServerThatForgotTheScriptsIsTaughtAgain() throws Exception {
        Bench bench = bench();
        LockClient holder = bench.client("");
        LockClient other = bench.client("");
        Lease held = holder.lock(NAME).acquire();
        CompletableFuture<Lease> waiting = waiter(other, holder);
        bench.server().command("SCRIPT", "FLUSH");
        Awaitility.await().pollDelay(Duration.ofSeconds(3)).until(() -> true);
        assertThat(held.isValid()).isTrue();
        bench.server().command("SCRIPT", "FLUSH");
        held.close();
        serves(waiting, Duration.ofSeconds(10));
    }

    @ParameterizedTest
    @ValueSource(strings = {"pubsub", "normal", "both"})
    void aWaiterWhoseConnectionsAreKilledIsServed(String type) throws Exception {
        Bench bench = bench();
        LockClient holder = bench.client("");
        LockClient other = bench.client("");
        Lease held = holder.lock(NAME).acquire();
        CompletableFuture<Lease> waiting = waiter(other, holder);
        for (String kind : type.equals("both") ? new String[] {"pubsub", "normal"} : new String[] {type}) {
            bench.server().command("CLIENT", "KILL", "TYPE", kind);
        }
        held.close(); // its message finds no subscriber
        serves(waiting, Duration.ofSeconds(3));
        holder.lock(NAME).lock();
        holder.lock(NAME).unlock();
    }

    @Test
    void aLockSurvivesARestartWithPersistence() throws Exception {
        Bench bench = bench(RedisServer.builder().persistent());
        LockClient holder = bench.client("redis://" + bench.server().address(), Duration.ofSeconds(10));
        LockClient other = bench.client("");
        Lease held = holder.lock(NAME).acquireAsync().get();
        long token = held.token();
        CompletableFuture<Lease> waiting = waiter(other, holder);
        bench.server().kill();
        bench.server().start();
        assertThat(held.isValid()).isTrue();
        Bench.await("the waiter is back", () -> holder.inspect(NAME).waiters().size() == 1);
        assertThat(waiting).isNotDone();
        assertThat(other.lock(NAME).tryLock()).isFalse();
        Bench.await("it is renewed", () -> held.remaining().compareTo(Duration.ofSeconds(8)) > 0);
        held.close();
        Lease next = waiting.get(10, TimeUnit.SECONDS);
        assertThat(next.token()).isGreaterThan(token);
        next.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"restart", "flush", "delete", "plain"})
    void aLockThatTheServerForgotIsLostAndItsTokensStillRise(String how) throws Exception {
        Bench bench = bench();
        LockClient holder = bench.client(how.equals("plain") ? "?queue=off" : "");
        Queue<LossReason> reasons = new ConcurrentLinkedQueue<>();
        Lease held = holder.lock(NAME).acquireAsync().get();
        long token = held.token();
        held.onLost(reasons::add);
        switch (how) {
            case "restart" -> bench.server().restart();
            case "delete" -> bench.server().command("DEL", KEY);
            default -> bench.server().command("FLUSHALL");
        }
        Bench.await("the loss is told", () -> !reasons.isEmpty());
        assertThat(reasons).containsExactly(LossReason.REVOKED);
        assertThat(held.isValid()).isFalse();
        assertThatThrownBy(held::close).isInstanceOf(LockLostException.class);
        try (Lease next = holder.lock(NAME).acquire()) {
            assertThat(next.token()).isGreaterThan(token);
        }
    }

    @Test
    void aWaiterSurvivesThatTheServerForgotEverything() throws Exception {
        Bench bench = bench();
        LockClient holder = bench.client("");
        LockClient other = bench.client("");
        Lease held = holder.lock(NAME).acquireAsync().get();
        CompletableFuture<Lease> waiting = waiter(other, holder);
        bench.server().command("FLUSHALL");
        serves(waiting, Duration.ofSeconds(5));
        Bench.await("the loss is told", () -> !held.isValid());
        assertThatThrownBy(held::close).isInstanceOf(LockLostException.class);
    }

    @Test
    void aMessageAboutAnEarlierLifeOfAClaimIsNotBelieved() throws Exception {
        Bench bench = bench();
        LockClient holder = bench.client("");
        LockClient other = bench.client("");
        Lease held = holder.lock(NAME, FAIR).acquireAsync().get();
        CompletableFuture<Lease> waiting = other.lock(NAME, FAIR).acquireAsync();
        Bench.awaitWaiters(holder, NAME, 1);
        String first = bench.server().command("ZRANGE", KEY + ":queue", "0", "0");
        bench.server().command("DEL", KEY + ":queue", KEY + ":claims");
        Bench.awaitWaiters(holder, NAME, 1);
        assertThat(bench.server().command("ZRANGE", KEY + ":queue", "0", "0")).isNotEqualTo(first);
        String channel = "lockstep:" + first.substring(0, 22);
        bench.server().command("PUBLISH", channel, "granted " + first + " 4711 0");
        for (String nonsense : new String[] {"", "granted", "granted  ", "granted " + first + "/1 x y", "a b c d e"}) {
            bench.server().command("PUBLISH", channel, nonsense);
        }
        Awaitility.await().pollDelay(Duration.ofMillis(500)).until(() -> true);
        assertThat(waiting).isNotDone();
        held.close();
        serves(waiting, Duration.ofSeconds(5));
    }

    /** The server's clock was set back: the last token is ahead of it. */
    @Test
    void tokensRiseWhenTheServersClockIsSetBack() throws Exception {
        Bench bench = bench();
        LockClient client = bench.client("");
        client.lock(NAME).acquire().close();
        long ahead = Long.parseLong(bench.server().command("HGET", KEY, "token")) + 60_000_000;
        bench.server().command("HSET", KEY, "token", Long.toString(ahead));
        for (int i = 1; i <= 3; i++) {
            try (Lease lease = client.lock(NAME).acquire()) {
                assertThat(lease.token() / 1024).isEqualTo(ahead + i);
            }
        }
    }

    /** The server's clock was set forward: a hold ends early, its holder is told, and its token is the lower one. */
    @Test
    void theTokenProtectsWhenTheServersClockIsSetForward() throws Exception {
        Bench bench = bench();
        LockClient holder = bench.client("");
        LockClient other = bench.client("");
        Lease held = holder.lock(NAME).acquireAsync().get();
        long token = held.token();
        bench.server().command("HSET", KEY, "until", "1");
        try (Lease next = other.lock(NAME).acquire()) {
            assertThat(next.token()).isGreaterThan(token);
            Bench.await("the loss is told", () -> !held.isValid());
            assertThatThrownBy(held::close).isInstanceOf(LockLostException.class);
            assertThat(next.isValid()).isTrue();
        }
    }

    @Test
    void anUnusedLocksTokenIsForgottenInTime() throws Exception {
        Bench bench = bench();
        LockClient client = bench.client("");
        client.lock(NAME).acquire().close();
        assertThat(bench.keysInUse()).isEmpty();
        assertThat(Long.parseLong(bench.server().command("PTTL", KEY)))
                .isBetween(1L, Duration.ofMinutes(21).toMillis());
    }

    @Test
    void aDeadWaiterAtTheHeadCostsALockThatIsNotFairASecond() throws Exception {
        Bench bench = bench();
        assertThat(takenPastADeadWaiter(bench, LockOptions.defaults(), "?waiterExpiry=10s"))
                .isLessThan(Duration.ofSeconds(4)); // a second, on a machine that is not busy
    }

    @Test
    void aDeadWaiterAtTheHeadCostsAFairLockItsExpiry() throws Exception {
        Bench bench = bench();
        assertThat(takenPastADeadWaiter(bench, FAIR, "?waiterExpiry=2s")).isLessThan(Duration.ofSeconds(5));
    }

    private Duration takenPastADeadWaiter(Bench bench, LockOptions options, String urlOptions) throws Exception {
        String url = "redis://" + bench.server().address() + urlOptions;
        LockClient holder = bench.client(url, Duration.ofSeconds(30));
        LockClient other = bench.client(url, Duration.ofSeconds(30));
        TcpProxy proxy = bench.proxy();
        LockClient dead = bench.client("redis://127.0.0.1:" + proxy.port() + urlOptions, Duration.ofSeconds(30));
        Lease held = holder.lock(NAME, options).acquireAsync().get();
        dead.lock(NAME, options).tryAcquireAsync(Duration.ofMinutes(1));
        Bench.awaitWaiters(holder, NAME, 1);
        CompletableFuture<Lease> waiting = other.lock(NAME, options).acquireAsync();
        Bench.awaitWaiters(holder, NAME, 2);
        proxy.blackHole();
        long start = System.nanoTime();
        held.close();
        waiting.get(30, TimeUnit.SECONDS).close();
        return Duration.ofNanos(System.nanoTime() - start);
    }

    @Test
    void aServerThatBecomesAReplicaIsWaitedFor() throws Exception {
        Bench bench = bench();
        LockClient client = bench.client("");
        try (RedisServer primary = RedisServer.builder().start()) {
            bench.server().command("REPLICAOF", "127.0.0.1", Integer.toString(primary.port()));
            Bench.await(
                    "it follows",
                    () -> bench.server().info("master_link_status").equals("up"));
            assertThatThrownBy(client.lock(NAME)::tryLock)
                    .isInstanceOf(LockUnavailableException.class)
                    .hasMessageContaining(NAME);
            CompletableFuture<Void> later = CompletableFuture.runAsync(() -> {
                try {
                    client.lock(NAME)
                            .tryAcquire(Duration.ofSeconds(20))
                            .orElseThrow()
                            .close();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
            bench.server().command("REPLICAOF", "NO", "ONE");
            later.get(20, TimeUnit.SECONDS);
        }
    }

    @Test
    void aServerThatIsFullIsAnErrorAndNotABusyLock() {
        Bench bench = bench();
        LockClient client = bench.client("");
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

    @Test
    void aKeyOfAnotherTypeInTheLocksPlaceIsAnError() {
        Bench bench = bench();
        LockClient queued = bench.client("");
        LockClient plain = bench.client("?queue=off");
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
        // Nor do the two kinds of lock take each other's keys for their own.
        plain.lock(NAME).lock();
        assertThatThrownBy(queued.lock(NAME)::tryLock).isInstanceOf(LockConfigurationException.class);
        plain.lock(NAME).unlock();
    }

    @Test
    void aLostReplyToAnAcquireAndToAReleaseIsAskedForAgain() throws Exception {
        Bench bench = bench();
        TcpProxy proxy = bench.proxy();
        LockClient client = bench.client(proxy, "");
        LockClient other = bench.client("");
        DistributedLock lock = client.lock(NAME);
        for (int i = 0; i < 20; i++) {
            CompletableFuture<Void> lost = proxy.dropReplyTo(NAME, Duration.ZERO);
            lock.lock();
            lost.get(10, TimeUnit.SECONDS);
            assertThat(other.inspect(NAME).holders()).hasSize(1);
            lost = proxy.dropReplyTo(NAME, Duration.ZERO);
            lock.unlock();
            lost.get(10, TimeUnit.SECONDS);
            assertThat(other.lock(NAME).tryLock()).isTrue();
            other.lock(NAME).unlock();
        }
        Bench.await(
                "nothing is left but word of the claims that are gone",
                () -> bench.keysInUse().stream().allMatch(key -> key.endsWith(":gone")));
    }

    @Test
    void aSlowScriptOfOthersIsWaitedFor() throws Exception {
        Bench bench = bench();
        LockClient client = bench.client("");
        bench.server().command("CLIENT", "PAUSE", "700", "ALL");
        client.lock(NAME).lock();
        client.lock(NAME).unlock();
    }

    @Test
    void interruptsAtRandomLeaveNothing() throws Exception {
        Bench bench = bench();
        LockClient first = bench.client("");
        LockClient second = bench.client("");
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
        Awaitility.await().pollDelay(Duration.ofSeconds(3)).until(() -> true);
        assertThat(Calls.of(bench.server(), "evalsha", "eval"))
                .as("renewals and looks for nobody")
                .isEqualTo(before);
    }
}
