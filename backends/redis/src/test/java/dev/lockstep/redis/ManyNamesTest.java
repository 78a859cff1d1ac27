package dev.lockstep.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockOptions;
import dev.lockstep.LockstepException;
import dev.lockstep.ReleaseNotConfirmedException;
import dev.lockstep.servers.RedisServer;
import dev.lockstep.servers.Servers;
import dev.lockstep.servers.TcpProxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Many locks at once: what the scripts for many do beside those for one, and how they fail. */
@Timeout(300)
class ManyNamesTest {
    private Bench bench;

    @BeforeEach
    void start() {
        bench = new Bench(Servers.require(() -> RedisServer.builder().start()));
    }

    @AfterEach
    void stop() throws Exception {
        if (bench != null) {
            bench.close();
        }
    }

    static List<String> names(int count) {
        return IntStream.range(0, count)
                .mapToObj(number -> String.format("many-%06d", number))
                .toList();
    }

    private static DistributedLock all(LockClient client, List<String> names) {
        return client.multiLock(names, LockOptions.defaults());
    }

    /** Its locks are free when its time is over, even for a call that takes many at once. */
    @Test
    void locksOfAnOwnerWhoseTimeIsOverAreFree() throws Exception {
        List<String> names = names(20);
        TcpProxy proxy = bench.proxy();
        LockClient dead = bench.client("redis://127.0.0.1:" + proxy.port(), Duration.ofSeconds(2), Bench.PATIENCE);
        long before;
        Lease lost = all(dead, names).acquireAsync().get(20, TimeUnit.SECONDS);
        before = lost.token(names.get(7));
        proxy.cut();
        LockClient client = bench.patientClient("");
        Bench.await("the time of the dead owner is over", () -> {
            boolean free = client.lock(names.get(0)).tryLock(); // in the thread that unlocks, which is another one
            if (free) {
                client.lock(names.get(0)).unlock();
            }
            return free;
        });
        long commands = Calls.of(bench.server(), "evalsha", "eval");
        try (Lease lease = all(client, names).acquire()) {
            assertThat(Calls.of(bench.server(), "evalsha", "eval") - commands).isLessThanOrEqualTo(3);
            assertThat(lease.token(names.get(7))).isGreaterThan(before);
        }
    }

    /** The names are used in every way that a batch leaves to a request for one. */
    @Test
    void locksThatAreUsedInAnotherWayAreTakenOneByOne() throws Exception {
        List<String> names = names(6);
        LockClient client = bench.patientClient("");
        LockClient rival = bench.patientClient("");
        DistributedLock reading = rival.readWriteLock(names.get(1)).readLock();
        reading.lock();
        assertThat(all(client, names).tryLock()).isFalse();
        reading.unlock();
        rival.semaphore(names.get(2), 3).acquire().close();
        bench.server().command("SET", "lockstep:{lockstep:" + names.get(4) + "}", "a stranger's");
        assertThatThrownBy(all(client, names)::tryLock).isInstanceOf(LockstepException.class);
        names.subList(0, 4)
                .forEach(name -> assertThat(rival.lock(name).tryLock()).isTrue());
        names.subList(0, 4).forEach(name -> rival.lock(name).unlock());
    }

    @Test
    void aServerThatDoesNotAnswerCostsOneTimeoutAndLeavesNothing() throws Exception {
        List<String> names = names(1_200);
        TcpProxy proxy = bench.proxy();
        LockClient client = bench.clientGivingUpSoon("redis://127.0.0.1:" + proxy.port());
        DistributedLock locks = all(client, names);
        locks.lock();
        locks.unlock();
        locks.lock();
        proxy.cut();
        long start = System.nanoTime();
        assertThatThrownBy(locks::unlock).isInstanceOf(ReleaseNotConfirmedException.class);
        assertThatThrownBy(locks::tryLock).isInstanceOf(LockstepException.class);
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(60));
        proxy.heal();
        LockClient rival = bench.patientClient("");
        Bench.await("all are free", () -> {
            boolean free = all(rival, names).tryLock();
            if (free) {
                all(rival, names).unlock();
            }
            return free;
        });
    }

    @Test
    @Tag("full")
    void twoHundredThousandLocksAreTakenInSeconds() throws Exception {
        List<String> names = names(200_000);
        LockClient client = bench.patientClient("");
        DistributedLock locks = all(client, names);
        long start = System.nanoTime();
        try (Lease lease = locks.acquire()) {
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(60));
            assertThat(lease.isValid()).isTrue();
            assertThat(lease.token(names.get(199_999))).isPositive();
            assertThat(all(bench.patientClient(""), names).tryLock()).isFalse();
        }
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(120));
        assertThat(client.snapshot().holds()).isEmpty();
    }
}
