package dev.lockstep.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockOptions;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.redis.redlock.RedlockEngine;
import dev.lockstep.servers.Logged;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.RedisClient;

/** How several servers are named and set up, and which are refused or warned of. */
@Tag("full")
@Timeout(120)
class RedlockSetUpsTest {
    private static final String SECRET = "s3cret";

    /** Without the one command that docs/engines/redlock.md excepts. */
    private static final String RULES =
            "locker on >" + SECRET + " " + Rights.ofTheManual().replace(" +wait ", " ");

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
        assertThatThrownBy(() -> connectUntilRefused(() -> connect(url)))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining(word)
                .hasMessageNotContaining(SECRET);
    }

    /** Servers beyond a majority are waited for only a moment: faults of a slow one are found later. */
    private static void connectUntilRefused(Supplier<LockClient> connect) {
        for (int i = 0; i < 20; i++) {
            connect.get().close();
        }
    }

    private static void works(LockClient client) throws Exception {
        try (Lease lease = client.lock("order:42").acquire()) {
            assertThat(lease.token()).isPositive();
            assertThat(client.inspect("order:42").holders()).hasSize(1);
        }
    }

    /** Servers that nobody has used yet. */
    private static List<RedisServer> fresh(int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> Servers.require(() -> RedisServer.builder().start()))
                .toList();
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
            assertThat(rival.lock("busy").tryLock()).isFalse();
            assertThat(client.list("")).hasSize(1);
            assertThat(client.forceRelease("busy")).isTrue();
        }
        refused(url.replace("//", "//locker:" + SECRET + "x@"), "user and password");
    }

    @Test
    void aPolicyThatEvictsLocksIsRefusedUnlessItIsAccepted() throws Exception {
        List<RedisServer> evicting = Redlocks.start(3, RedisServer.builder().maxMemory(100_000_000, "volatile-lru"));
        try {
            String url = Redlocks.url(evicting);
            refused(url, "noeviction");
            refused(url, "eviction=accept");
            refused(url + "?eviction=refuse", "noeviction");
            try (Logged log = new Logged();
                    LockClient client = connect(url + "?eviction=accept")) {
                works(client);
                assertThat(log.tells("WARN", "volatile-lru")).isTrue();
            }
        } finally {
            evicting.forEach(RedisServer::close);
        }
    }

    @Test
    void serversAreNamedByClientsThatOneHas() throws Exception {
        List<RedisClient> clients = new ArrayList<>();
        servers.forEach(server -> clients.add(RedisClient.create("127.0.0.1", server.port())));
        RedisClient[] all = clients.toArray(RedisClient[]::new);
        try (LockClient locks = LockClient.builder()
                .backend(RedlockEngine.on(all).waiterExpiry(Duration.ofSeconds(2)))
                .connect()) {
            works(locks);
        }
        assertThat(all[0].ping()).isEqualTo("PONG"); // it stays its owner's
        assertThatThrownBy(() -> RedlockEngine.on(all[0], all[1])).isInstanceOf(LockConfigurationException.class);
        assertThatThrownBy(() -> RedlockEngine.on(all[0], all[1], all[0]))
                .isInstanceOf(LockConfigurationException.class);
        assertThatThrownBy(() -> RedlockEngine.on(all).waiterExpiry(Duration.ZERO))
                .isInstanceOf(IllegalArgumentException.class);
        clients.forEach(RedisClient::close);
    }

    @Test
    void anUnknownOptionIsAnsweredWithTheKnownOnes() {
        for (String option : new String[] {"queue=off", "replicas=1", "nonsense=1"}) {
            refused(
                    Redlocks.url(servers) + "?" + option,
                    "Options of redlock:// (case-sensitive) are waiterExpiry, pool, eviction, passwordFile and ca.");
        }
    }

    @Test
    void fewerThanThreeServersAreRefused() {
        refused("redlock://" + servers.get(0).address(), "three servers");
        refused(Redlocks.url(servers.subList(0, 2)), "three servers");
    }

    @Test
    void theSameServerTwiceIsRefused() {
        String first = servers.get(0).address();
        refused("redlock://" + first + "," + first + "," + servers.get(1).address(), "two votes");
    }

    @Test
    void oneServerUnderTwoNamesIsRefused() {
        List<RedisServer> two = fresh(2);
        int port = two.get(0).port();
        try (RedisClient one = RedisClient.create("127.0.0.1", port);
                RedisClient again = RedisClient.create("localhost", port);
                RedisClient another = RedisClient.create("127.0.0.1", two.get(1).port())) {
            refused(
                    "redlock://127.0.0.1:" + port + ",localhost:" + port + ","
                            + two.get(1).address(),
                    "are the same server");
            assertThatThrownBy(() -> connectUntilRefused(() -> LockClient.builder()
                            .backend(RedlockEngine.on(one, again, another))
                            .connect()))
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining("127.0.0.1:" + port)
                    .hasMessageContaining("localhost:" + port)
                    .hasMessageContaining("are the same server");
        } finally {
            two.forEach(RedisServer::close);
        }
    }

    /** It was down when the client came, so that nobody could tell. */
    @Test
    void oneServerUnderTwoNamesThatComesLateHasOneVote() throws Exception {
        try (Redlocks set = Redlocks.of(Redlocks.start(4, RedisServer.builder()));
                Logged log = new Logged()) {
            set.servers().forEach(server -> Redlocks.age(server, 5));
            RedisServer twice = set.server(3);
            twice.kill();
            LockClient client = set.client(
                    Redlocks.url(set.servers()) + ",localhost:" + twice.port(),
                    Duration.ofSeconds(5),
                    Duration.ofSeconds(2));
            twice.start();
            Redlocks.age(twice, 5);
            Bench.await("it is logged", () -> log.tells("has no vote", "are the same server"));
            works(client);
            set.server(0).kill();
            set.server(1).kill();
            assertThatThrownBy(client.lock("order:42")::tryLock).isInstanceOf(LockUnavailableException.class);
        }
    }

    @Test
    void differentVersionsAndPoliciesAreWarnedOf() throws Exception {
        List<RedisServer> different = new ArrayList<>(Redlocks.start(2, RedisServer.builder()));
        different.addAll(Redlocks.start(1, RedisServer.builder().version62()));
        different.forEach(server -> Redlocks.age(server, 3));
        try (Redlocks set = Redlocks.of(different);
                Logged log = new Logged()) {
            works(set.client(Duration.ofSeconds(5)));
            Bench.await("it is logged", () -> log.tells("different versions", "6.2", "the same way"));
            assertThat(log.text()).doesNotContain("maxmemory-policy");
            set.server(0)
                    .command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru"); // without a limit it evicts nothing
            works(set.client(Duration.ofSeconds(5)));
            Bench.await(
                    "it is logged", () -> log.tells("maxmemory-policy", "allkeys-lru", "noeviction", "the same way"));
        }
    }

    @Test
    void serversThatAreAlikeAreNotWarnedOf() throws Exception {
        try (Logged log = new Logged();
                LockClient client = connect(Redlocks.url(servers))) {
            works(client);
            assertThat(log.text()).isEmpty();
        }
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

    /** The server is replaced while clients are connected; they check it when they connect again. */
    @Test
    void aServerThatBeginsToEvictHasNoVoteUntilItStops() throws Exception {
        try (Redlocks set = Redlocks.start(3);
                Logged log = new Logged()) {
            LockClient client = set.client(Duration.ofSeconds(5));
            works(client);
            List<RedisServer> two = set.servers().subList(0, 2);
            for (RedisServer server : two) {
                server.command("CONFIG", "SET", "maxmemory", "100mb", "maxmemory-policy", "allkeys-lru");
                server.command("CLIENT", "KILL", "TYPE", "pubsub");
                Bench.await(
                        "it is logged", () -> log.tells("has no vote", Integer.toString(server.port()), "noeviction"));
            }
            assertThatThrownBy(client.lock("order:42")::tryLock)
                    .isInstanceOf(LockUnavailableException.class)
                    .hasMessageContaining("vote");
            for (RedisServer server : two) {
                server.command("CONFIG", "SET", "maxmemory-policy", "noeviction");
                server.command("CLIENT", "KILL", "TYPE", "pubsub");
            }
            client.lock("order:42")
                    .tryAcquire(Duration.ofSeconds(20))
                    .orElseThrow()
                    .close();
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
        try (Redlocks set = Redlocks.start(4);
                Logged log = new Logged()) {
            LockClient client = set.client(Duration.ofSeconds(5));
            assertThat(log.tells("4 servers survives no more failures than one of 3", "odd number"))
                    .as(log.text())
                    .isTrue();
            set.server(0).kill();
            works(client);
            set.server(1).kill();
            assertThatThrownBy(client.lock("order:42")::tryLock).isInstanceOf(LockUnavailableException.class);
        }
    }

    /** No client has used them as a Redlock, so locks can only have been lost by their start. */
    @Test
    void newServersVoteOnceTheyAreOlderThanTheTtl() throws Exception {
        List<RedisServer> fresh = fresh(3);
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
}
