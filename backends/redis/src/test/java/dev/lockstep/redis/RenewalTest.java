package dev.lockstep.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockInfo;
import dev.lockstep.LockLostException;
import dev.lockstep.LossReason;
import dev.lockstep.servers.RedisCluster;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Locks are renewed many at a time, and each has its own answer. */
@Timeout(120)
@Tag("full")
class RenewalTest extends OneServerTestCase {
    private static final Duration TTL = Duration.ofSeconds(3);

    private static String key(String lockName) {
        return "lockstep:{lockstep:" + lockName + "}";
    }

    private static List<Lease> acquire(LockClient client, List<String> names) throws InterruptedException {
        List<Lease> leases = new ArrayList<>();
        for (String name : names) {
            leases.add(client.lock(name).acquire());
        }
        return leases;
    }

    private static void isLost(Lease lease) {
        assertThatThrownBy(lease::ensureValid)
                .isInstanceOfSatisfying(
                        LockLostException.class,
                        lost -> assertThat(lost.reason()).isEqualTo(LossReason.REVOKED));
        assertThatThrownBy(lease::close).isInstanceOf(LockLostException.class);
    }

    @ParameterizedTest
    @CsvSource({"false, ''", "true, ''", "false, ?queue=off", "true, ?queue=off"})
    void aKeyOfAnotherKindCostsItsOwnLockAlone(boolean old, String options) throws Exception {
        Bench bench = bench(old ? RedisServer.builder().version62() : RedisServer.builder());
        LockClient client = bench.client(bench.server().url() + options, TTL, TTL);
        List<Lease> leases = acquire(client, List.of("a", "b", "c", "d"));
        bench.server().command("DEL", key("b"));
        bench.server()
                .command(
                        options.isEmpty() ? new String[] {"SET", key("b"), "x"} : new String[] {"SADD", key("b"), "x"});
        Bench.await("the loss of one is noticed", () -> !leases.get(1).isValid());
        isLost(leases.remove(1));
        Bench.letPass(TTL.multipliedBy(5).dividedBy(4));
        assertThat(leases).allMatch(Lease::isValid);
        leases.forEach(Lease::close);
    }

    /** The lock itself is still there; nobody can see who waits for it. */
    @Test
    void aQueueOfAnotherKindCostsNoLock() throws Exception {
        Bench bench = bench();
        LockClient client = bench.client(bench.server().url(), TTL, TTL);
        List<Lease> leases = acquire(client, List.of("a", "b"));
        bench.server().command("SET", key("b") + ":queue", "x");
        Bench.letPass(TTL.multipliedBy(5).dividedBy(4));
        assertThat(leases).allMatch(Lease::isValid);
        assertThat(client.list("").stream().map(LockInfo::name)).containsExactly("a");
        assertThatThrownBy(() -> client.inspect("b"))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining("'b'")
                .hasMessageContaining("WRONGTYPE");
        bench.server().command("DEL", key("b") + ":queue");
        leases.forEach(Lease::close);
    }

    @Test
    void aForeignHashIsLeftOutOfTheList() throws Exception {
        Bench bench = bench();
        LockClient client = bench.client(bench.server().url(), TTL, TTL);
        List<Lease> leases = acquire(client, List.of("a", "b"));
        bench.server().command("HSET", key("x"), "owner", "somebody");
        bench.server().command("HSET", key("y"), "owner", "somebody", "until", "tomorrow", "token", "1", "info", "i");
        bench.server().command("HSET", key("z"), "owner", "somebody", "until", "9999999999999", "token", "t");
        assertThat(client.list("").stream().map(LockInfo::name)).containsExactly("a", "b");
        for (String foreign : List.of("x", "y", "z")) {
            assertThatThrownBy(() -> client.inspect(foreign))
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining("'" + foreign + "'");
        }
        leases.forEach(Lease::close);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aDamagedExpiryCostsNoOtherLock(boolean old) throws Exception {
        Bench bench = bench(old ? RedisServer.builder().version62() : RedisServer.builder());
        LockClient client = bench.client(bench.server().url(), TTL, TTL);
        List<Lease> leases = acquire(client, List.of("a", "b", "c"));
        bench.server().command("HSET", key("b"), "until", "tomorrow");
        Bench.letPass(TTL.multipliedBy(5).dividedBy(4));
        assertThat(leases).allMatch(Lease::isValid);
        leases.forEach(Lease::close);
    }

    @Test
    void aKeyOfAnotherKindOnAMajorityOfServersCostsItsOwnLockAlone() throws Exception {
        try (Redlocks servers = Redlocks.start(3)) {
            List<Lease> leases = acquire(servers.client(TTL), List.of("a", "b", "c", "d"));
            for (RedisServer server : servers.servers().subList(0, 2)) {
                server.command("SET", key("b"), "x");
            }
            Bench.await("the loss of one is noticed", () -> !leases.get(1).isValid());
            isLost(leases.remove(1));
            Bench.letPass(TTL.multipliedBy(5).dividedBy(4));
            assertThat(leases).allMatch(Lease::isValid);
        }
    }

    @Test
    void aSlotInMigrationCostsItsOwnLocksAlone() throws Exception {
        try (RedisCluster cluster = Servers.require(() -> RedisServer.builder().startCluster(3, 0));
                LockClient client = LockClient.builder()
                        .url("redis-cluster://" + cluster.addresses())
                        .ttl(TTL)
                        .requestTimeout(TTL)
                        .connect()) {
            RedisServer from = cluster.get(0);
            RedisServer to = cluster.get(1);
            List<String> names = new ArrayList<>();
            for (int i = 0; names.size() < 4; i++) {
                if (cluster.owner(cluster.slot(key("lock" + i))).equals(from)) {
                    names.add("lock" + i);
                }
            }
            List<Lease> leases = acquire(client, names);
            String slot = Integer.toString(cluster.slot(key(names.get(1))));
            to.command("CLUSTER", "SETSLOT", slot, "IMPORTING", from.command("CLUSTER", "MYID"));
            from.command("CLUSTER", "SETSLOT", slot, "MIGRATING", to.command("CLUSTER", "MYID"));
            Bench.await("what cannot be renewed ends", () -> !leases.get(1).isValid());
            leases.remove(1);
            Bench.letPass(TTL);
            assertThat(leases).allMatch(Lease::isValid);
            from.command("CLUSTER", "SETSLOT", slot, "STABLE");
            to.command("CLUSTER", "SETSLOT", slot, "STABLE");
            leases.forEach(Lease::close);
        }
    }
}
