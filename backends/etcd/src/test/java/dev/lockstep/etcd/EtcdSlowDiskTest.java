package dev.lockstep.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockLostException;
import dev.lockstep.servers.EtcdServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.SlowDisk;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Members whose disks are slow, or stop for longer than a ttl. */
@Tag("full")
class EtcdSlowDiskTest extends ClusterTestCase {
    private static final Duration TTL = Duration.ofSeconds(3);

    private SlowDisk slowDown(EtcdServer member, Duration delay) {
        return closedAfterwards(Servers.require(() -> SlowDisk.of(member, delay)));
    }

    @Test
    void slowDisksCostTimeAndNoLock() throws Exception {
        Duration ttl = TTL.multipliedBy(2);
        LockClient client = connect(ttl, cluster.servers());
        LockClient rival = connect(ttl, cluster.servers());
        Lease held = client.lock(NAME).acquireAsync().get();
        long token = held.token();
        CompletableFuture<Lease> waiting = rival.lock(NAME).acquireAsync();
        await("it waits", () -> client.inspect(NAME).waiters().size() == 1);
        cluster.servers().forEach(member -> slowDown(member, Duration.ofMillis(300)));
        TimeUnit.MILLISECONDS.sleep(ttl.toMillis()); // which it must outlast
        assertThat(held.isValid()).isTrue();
        assertThat(waiting).isNotDone();
        held.close();
        try (Lease next = waiting.get(20, TimeUnit.SECONDS)) {
            assertThat(next.token()).isGreaterThan(token);
        }
    }

    /** The disk of the leader stops, so that there is another leader, of which the first one does not know. */
    @Test
    void aHolderOnALeaderWithAStalledDiskIsNotValidWhenTheNextHolderStarts() throws Exception {
        EtcdServer leader = awaitLeader(cluster.servers());
        LockClient holder = connect(TTL, List.of(leader));
        LockClient rival = connect(TTL, others(leader));
        Lease held = holder.lock(NAME).acquireAsync().get();
        CompletableFuture<Boolean> overlap = rival.lock(NAME).acquireAsync().thenApply(lease -> held.isValid());
        await("it waits", () -> rival.inspect(NAME).waiters().size() == 1);
        SlowDisk disk = slowDown(leader, TTL.multipliedBy(4));
        write(rival);
        awaitLeader(others(leader));
        assertThat(overlap.get(40, TimeUnit.SECONDS)).isFalse();
        assertThatThrownBy(held::close).isInstanceOf(LockLostException.class);
        disk.close();
    }

    /** Writes until that is answered. */
    private static void write(LockClient client) {
        await("a write", () -> {
            client.lock("written")
                    .tryAcquire(Duration.ofSeconds(5))
                    .orElseThrow()
                    .close();
            return true;
        });
    }

    /**
     * etcd before 3.4.31 and 3.5.13: a leader whose disk has stopped ends leases that its successor has renewed, those of
     * holders and of waiters. No client can prevent it, but the clients that lose a lock by it are notified.
     */
    @Test
    void aHolderWhoseLeaseAnOldLeaderEndsIsNotified() throws Exception {
        EtcdServer leader = awaitLeader(cluster.servers());
        LockClient holder = connect(TTL, others(leader));
        LockClient rival = connect(TTL, others(leader));
        Lease held = holder.lock(NAME).acquireAsync().get();
        CompletableFuture<Lease> waiting = rival.lock(NAME).acquireAsync();
        await("it waits", () -> rival.inspect(NAME).waiters().size() == 1);
        SlowDisk disk = slowDown(leader, TTL.multipliedBy(2));
        write(rival);
        awaitLeader(others(leader));
        TimeUnit.MILLISECONDS.sleep(
                TTL.multipliedBy(2).toMillis()); // long enough for the old leader to think it expired
        disk.close();
        TimeUnit.MILLISECONDS.sleep(TTL.dividedBy(2).toMillis()); // and to say so
        if (waiting.isDone()) {
            await("it knows", () -> !held.isValid());
            assertThatThrownBy(held::close).isInstanceOf(LockLostException.class);
        } else {
            giveBack(held);
        }
        giveBack(waiting.get(20, TimeUnit.SECONDS));
    }
}
