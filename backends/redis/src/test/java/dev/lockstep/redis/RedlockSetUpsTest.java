package dev.lockstep.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockOptions;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.RedisClient;

/** How several servers are named, set up and counted, and what they cost. */
@Timeout(120)
class RedlockSetUpsTest {
    private static final String SECRET = "s3cret";

    /** As in docs/engines/redlock.md. */
    private static final String RULES = "locker on >" + SECRET + " ~lockstep:* resetchannels &lockstep:* -@all"
            + " +eval +evalsha +info +ping +scan +subscribe +publish +time +exists +pttl +pexpire +del +hmget +hget"
            + " +hset +hdel +zadd +zrem +zscore +zcard +zrange +zrangebyscore +zremrangebyscore";

    private static List<RedisServer> servers = List.of();

    @BeforeAll
    static void startServers() {
        servers = Redlocks.start(5, RedisServer.builder().user(RULES));
    }

    @AfterAll
    static void stopServers() {
        servers.forEach(RedisServer::close);
    }

    private static LockClient connect(String url) {
        return LockClient.builder()
                .url(url)
                .namespace("set-ups")
                .requestTimeout(Duration.ofSeconds(10))
                .connect();
    }

    private static void refused(String url, String word) {
        assertThatThrownBy(() -> connect(url).close())
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining(word)
                .hasMessageNotContaining(SECRET);
    }

    private static void works(LockClient client) throws Exception {
        try (Lease lease = client.lock("order:42").acquire()) {
            assertThat(lease.token()).isPositive();
            assertThat(client.inspect("order:42").holders()).hasSize(1);
        }
    }

    @Test
    void serversAreNamedByAUrl() throws Exception {
        try (LockClient client = connect(Redlocks.url(servers))) {
            works(client);
        }
    }

    @Test
    void aUserNeedsNoMoreThanTheManualSays() throws Exception {
        String url = Redlocks.url(servers);
        try (LockClient client = connect(url.replace("//", "//locker:" + SECRET + "@"));
                LockClient rival = connect(url)) {
            works(client);
            client.lock("busy").lock();
            assertThat(rival.lock("busy").tryAcquire(Duration.ofMillis(200))).isEmpty();
            assertThat(client.list("")).hasSize(1);
            assertThat(client.forceRelease("busy")).isTrue();
        }
        refused(url.replace("//", "//locker:" + SECRET + "x@"), "user and password");
    }

    @Test
    void serversAreNamedByClientsThatOneHas() throws Exception {
        List<RedisClient> clients = new ArrayList<>();
        servers.forEach(server -> clients.add(RedisClient.create("127.0.0.1", server.port())));
        RedisClient[] all = clients.toArray(RedisClient[]::new);
        try (LockClient locks = LockClient.builder()
                .backend(Redlock.on(all).waiterExpiry(Duration.ofSeconds(2)))
                .connect()) {
            works(locks);
        }
        assertThat(all[0].ping()).isEqualTo("PONG"); // it stays its owner's
        assertThatThrownBy(() -> Redlock.on(all[0], all[1])).isInstanceOf(LockConfigurationException.class);
        assertThatThrownBy(() -> Redlock.on(all[0], all[1], all[0])).isInstanceOf(LockConfigurationException.class);
        assertThatThrownBy(() -> Redlock.on(all).waiterExpiry(Duration.ZERO))
                .isInstanceOf(IllegalArgumentException.class);
        clients.forEach(RedisClient::close);
    }

    @Test
    void fewerThanThreeServersAreRefused() {
        refused("redlock://" + servers.get(0).address(), "three servers");
        refused(Redlocks.url(servers.subList(0, 2)), "three servers");
    }

    @Test
    void oneServerUnderTwoNamesIsRefused() {
        int port = servers.get(0).port();
        refused(
                "redlock://127.0.0.1:" + port + ",localhost:" + port + ","
                        + servers.get(1).address(),
                "same server");
    }

    @Test
    void anotherNumberOfServersThanOthersHaveIsRefused() {
        refused(Redlocks.url(servers.subList(0, 3)), "one of 5");
    }

    @Test
    void aServerThatEvictsIsRefused() {
        RedisServer server = servers.get(2);
        server.command("CONFIG", "SET", "maxmemory", "100mb", "maxmemory-policy", "allkeys-lru");
        try {
            refused(Redlocks.url(servers), "noeviction");
        } finally {
            server.command("CONFIG", "SET", "maxmemory", "0", "maxmemory-policy", "noeviction");
        }
    }

    @Test
    void fairAndSharedLocksAreRefused() {
        try (LockClient client = connect(Redlocks.url(servers))) {
            assertThatThrownBy(
                            () -> client.lock("order:42", LockOptions.defaults().fair()))
                    .isInstanceOf(LockConfigurationException.class);
            assertThatThrownBy(() -> client.readWriteLock("order:42").readLock())
                    .isInstanceOf(LockConfigurationException.class);
        }
    }

    @Test
    void anEvenNumberOfServersWorksAndNeedsMoreThanHalf() throws Exception {
        try (Redlocks set = Redlocks.start(4)) {
            LockClient client = set.client(Duration.ofSeconds(5));
            set.server(0).kill();
            works(client);
            set.server(1).kill();
            assertThatThrownBy(client.lock("order:42")::tryLock).isInstanceOf(LockUnavailableException.class);
        }
    }

    /** Nobody has used them as a Redlock, so nobody has lost a lock there but by their start. */
    @Test
    void newServersVoteOnceTheyAreOlderThanTheTtl() throws Exception {
        List<RedisServer> fresh = IntStream.range(0, 3)
                .mapToObj(i -> Servers.require(() -> RedisServer.builder().start()))
                .toList();
        String url = Redlocks.url(fresh);
        try (LockClient patient =
                        LockClient.builder().url(url).ttl(Duration.ofSeconds(2)).connect();
                LockClient impatient =
                        LockClient.builder().url(url).ttl(Duration.ofSeconds(2)).connect()) {
            patient.lock("order:42")
                    .tryAcquire(Duration.ofSeconds(30))
                    .orElseThrow()
                    .close();
            assertThat(impatient.lock("order:42").tryLock()).isTrue();
            try (LockClient late =
                    LockClient.builder().url(url).ttl(Duration.ofHours(1)).connect()) {
                assertThatThrownBy(late.lock("another")::tryLock)
                        .isInstanceOf(LockUnavailableException.class)
                        .hasMessageContaining("vote");
            }
        } finally {
            fresh.forEach(RedisServer::close);
        }
    }

    // ---------------------------------------------------------------- what they cost

    @Test
    void anUncontendedPairIsThreeCommandsAtEachServer() {
        try (LockClient client = connect(Redlocks.url(servers))) {
            client.lock("pair").lock();
            client.lock("pair").unlock();
            Bench.await(
                    "the first pair is done everywhere",
                    () -> servers.stream()
                            .allMatch(server -> server.command("HGET", "lockstep:{set-ups:pair}", "owner")
                                    .isEmpty()));
            List<Long> before = calls();
            for (int i = 0; i < 20; i++) {
                client.lock("pair").lock();
                client.lock("pair").unlock();
            }
            List<Long> after = calls();
            long all = 0;
            for (int i = 0; i < servers.size(); i++) {
                assertThat(after.get(i) - before.get(i)).isLessThanOrEqualTo(3 * 20);
                all += after.get(i) - before.get(i);
            }
            assertThat(all).isGreaterThanOrEqualTo(3 * 3 * 20); // what a majority needs at least
        }
    }

    private static List<Long> calls() {
        return servers.stream()
                .map(server -> Calls.of(server, "evalsha", "eval"))
                .toList();
    }

    @Test
    void connectionsAndThreadsAreBoundedByServersAndNotByLocks() throws Exception {
        try (LockClient holder = connect(Redlocks.url(servers));
                LockClient waiter = connect(Redlocks.url(servers))) {
            List<Lease> held = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                held.add(holder.lock("held-" + i).acquireAsync().get());
                waiter.lock("held-" + i).acquireAsync().thenAccept(Lease::closeAsync);
            }
            long threads = Thread.getAllStackTraces().keySet().stream()
                    .filter(thread -> thread.getName().startsWith("lockstep-redis"))
                    .count();
            assertThat(threads).isLessThanOrEqualTo(2L * servers.size() * 5);
            assertThat(servers).allMatch(server -> Integer.parseInt(server.info("connected_clients")) <= 2 * 5 + 2);
            held.forEach(Lease::closeAsync);
            Bench.await("all is given back", () -> waiter.list("held-").isEmpty());
        }
    }
}
