package dev.lockstep.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockLostException;
import dev.lockstep.servers.EtcdServer;
import dev.lockstep.servers.ProxiedLinks;
import dev.lockstep.servers.ServerGroup;
import dev.lockstep.servers.Servers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A member that is cut off from the others keeps answering its clients for a while, and a leader even keepalives, as if
 * nothing had happened. But the others elect another leader, which ends the leases that it hears nothing of.
 */
@Tag("full")
class EtcdPartitionTest extends EtcdTestCase {
    private static final Duration TTL = Duration.ofSeconds(3);
    private static final int ROUNDS = 2;

    private final ProxiedLinks links = new ProxiedLinks();
    private ServerGroup<EtcdServer> cluster;

    @BeforeEach
    void startCluster() {
        // Without a vote before the vote, a member that comes back has the others elect again, some times in a row.
        cluster = Servers.require(
                () -> EtcdServer.builder().flag("pre-vote", "true").startCluster(3, links));
        warmUp(cluster.addresses());
    }

    @AfterEach
    void stopCluster() {
        if (cluster != null) {
            cluster.close();
        }
        links.close();
    }

    private List<EtcdServer> others(EtcdServer member) {
        return cluster.servers().stream().filter(other -> other != member).toList();
    }

    private LockClient connect(Duration ttl, List<EtcdServer> members) {
        return connect(builder().url(ClusterTestCase.url(members)).ttl(ttl).requestTimeout(Duration.ofSeconds(20)));
    }

    private void cutOff(EtcdServer member) {
        links.cutOff(cluster.servers().indexOf(member));
    }

    private void heal() {
        links.heal();
        await(
                "all have a leader",
                () -> cluster.servers().stream().allMatch(member -> member.metric("etcd_server_has_leader", "") == 1));
    }

    private void nextHolderStartsAfterTheOneOn(EtcdServer member) throws Exception {
        LockClient holder = connect(TTL, List.of(member));
        LockClient rival = connect(TTL, others(member));
        Lease held = holder.lock(NAME).acquireAsync().get();
        CompletableFuture<Lease> waiting = rival.lock(NAME).acquireAsync();
        CompletableFuture<Boolean> overlap = waiting.thenApply(lease -> held.isValid());
        await("it waits", () -> rival.inspect(NAME).waiters().size() == 1);
        // At any time between two keepalives.
        TimeUnit.MILLISECONDS.sleep(ThreadLocalRandom.current().nextLong(TTL.toMillis() / 3));
        assertThat(held.isValid()).isTrue();
        cutOff(member);
        assertThat(overlap.get(40, TimeUnit.SECONDS)).isFalse();
        // A client that takes its answers for those of the majority would still hold.
        String claims = "{\"key\":\"" + Gateway.base64(lockPrefix("")) + "\",\"serializable\":true}";
        assertThat(new Gateway(member).post("/v3/kv/range", claims)).contains("revision");
        assertThatThrownBy(held::close).isInstanceOf(LockLostException.class);
        heal();
        giveBack(waiting.get());
        await("nothing is left", () -> holder.inspect(NAME).holders().isEmpty());
    }

    @Test
    void aHolderOnALeaderThatIsCutOffIsNotValidWhenTheNextHolderStarts() throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            nextHolderStartsAfterTheOneOn(ClusterTestCase.awaitLeader(cluster.servers()));
        }
    }

    @Test
    void aHolderOnAFollowerThatIsCutOffIsNotValidWhenTheNextHolderStarts() throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            EtcdServer leader = ClusterTestCase.awaitLeader(cluster.servers());
            nextHolderStartsAfterTheOneOn(others(leader).get(round % 2));
        }
    }

    @Test
    void aHoldAndAWaitOfTheMajoritySurviveThatTheLeaderIsCutOffAndComesBack() throws Exception {
        Duration ttl = TTL.multipliedBy(5); // so that it outlasts an election on a busy machine
        EtcdServer leader = ClusterTestCase.awaitLeader(cluster.servers());
        LockClient holder = connect(ttl, others(leader));
        LockClient waiter = connect(ttl, others(leader));
        Lease held = holder.lock(NAME).acquireAsync().get();
        long token = held.token();
        CompletableFuture<Lease> waiting = waiter.lock(NAME).acquireAsync();
        await("it waits", () -> holder.inspect(NAME).waiters().size() == 1);
        cutOff(leader);
        ClusterTestCase.awaitLeader(others(leader));
        TimeUnit.MILLISECONDS.sleep(ttl.toMillis()); // in which the old leader hears of no keepalive
        heal();
        TimeUnit.MILLISECONDS.sleep(TTL.toMillis()); // in which it could end the lease
        assertThat(waiting).isNotDone();
        held.close(); // which throws, and says why, if it was lost
        try (Lease next = waiting.get(20, TimeUnit.SECONDS)) {
            assertThat(next.token()).isGreaterThan(token);
        }
    }
}
