package dev.lockstep.internal.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.ClientSnapshot.Use;
import dev.lockstep.DistributedLock;
import dev.lockstep.DistributedReadWriteLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockLostException;
import dev.lockstep.LockMode;
import dev.lockstep.LossReason;
import dev.lockstep.memory.MemoryEngine;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The information of a thread and of a client about their own holds. */
class CurrentLeaseTest {
    private final MemoryEngine engine = new MemoryEngine();
    private final LockClient client = LockClient.builder().backend(engine).connect();
    private final LockClient rival = LockClient.builder().backend(engine).connect();

    @AfterEach
    void close() {
        client.close();
        rival.close();
    }

    @Test
    void aHoldTakenByLockHasWhatALeaseHas() {
        DistributedLock lock = client.lock("order:42");
        assertThat(lock.currentLease()).isEmpty();
        lock.lock();
        Lease current = lock.currentLease().orElseThrow();
        assertThat(current.lockName()).isEqualTo("order:42");
        assertThat(current.isValid()).isTrue();
        assertThat(current.remaining()).isPositive();
        long token = current.token();
        assertThat(client.lock("order:42").currentLease().orElseThrow().token()).isEqualTo(token);
        assertThatThrownBy(current::close)
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("unlock()");
        assertThatThrownBy(current::closeAsync).isInstanceOf(UnsupportedOperationException.class);
        lock.unlock();
        assertThat(lock.currentLease()).isEmpty();
        lock.lock();
        assertThat(current.isValid()).isFalse();
        assertThat(lock.currentLease().orElseThrow().token()).isGreaterThan(token);
        lock.unlock();
    }

    @Test
    void itsLossIsReported() {
        DistributedLock lock = client.lock("order:42");
        lock.lock();
        Lease current = lock.currentLease().orElseThrow();
        CompletableFuture<LossReason> loss = new CompletableFuture<>();
        current.onLost(loss::complete);
        rival.forceRelease("order:42");
        assertThat(loss.orTimeout(10, TimeUnit.SECONDS).join()).isEqualTo(LossReason.REVOKED);
        assertThat(lock.currentLease()).isPresent();
        assertThatThrownBy(current::ensureValid).isInstanceOf(LockLostException.class);
        assertThatThrownBy(lock::unlock).isInstanceOf(LockLostException.class);
        assertThat(lock.currentLease()).isEmpty();
    }

    @Test
    void itBelongsToTheThreadAndTheMode() {
        DistributedReadWriteLock lock = client.readWriteLock("order:42");
        lock.readLock().lock();
        assertThat(lock.readLock().currentLease()).isPresent();
        assertThat(lock.writeLock().currentLease()).isEmpty();
        assertThat(CompletableFuture.supplyAsync(() -> lock.readLock().currentLease())
                        .join())
                .isEmpty();
        lock.readLock().unlock();
    }

    @Test
    void aMultiLockShowsAllItsHolds() {
        DistributedLock both = client.multiLock("b", "a");
        assertThat(both.names()).containsExactly("a", "b");
        client.lock("a").lock();
        assertThat(both.currentLease()).isEmpty();
        client.lock("b").lock();
        Lease current = both.currentLease().orElseThrow();
        assertThat(current.token("a")).isPositive();
        assertThat(current.isValid()).isTrue();
        client.lock("b").unlock();
        assertThat(current.isValid()).isFalse();
        client.lock("a").unlock();
    }

    @Test
    void aLeaseCanBeTakenUninterruptibly() {
        Thread.currentThread().interrupt();
        try (Lease lease = client.lock("order:42").acquireUninterruptibly()) {
            assertThat(lease.isValid()).isTrue();
            assertThat(Thread.interrupted()).isTrue();
        }
        Thread.currentThread().interrupt();
        try (Lease lease = client.multiLock("a", "b").acquireUninterruptibly()) {
            assertThat(lease.isValid()).isTrue();
        }
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void aWaitIsADuration() throws Exception {
        rival.lock("order:42").lock();
        assertThat(client.lock("order:42").tryLock(Duration.ofMillis(10))).isFalse();
        assertThat(client.lock("order:42").tryLock(Duration.ZERO)).isFalse();
        rival.lock("order:42").unlock();
        assertThat(client.lock("order:42").tryLock(Duration.ofDays(1_000_000))).isTrue();
        client.lock("order:42").unlock();
    }

    @Test
    void aSnapshotShowsHoldsAndWaiters() throws Exception {
        client.lock("b").lock();
        client.readWriteLock("a").readLock().lock();
        Lease async = client.lock("c").acquireAsync().get(20, TimeUnit.SECONDS);
        Thread waiter = new Thread(
                () -> {
                    client.lock("b").lock();
                    client.lock("b").unlock();
                },
                "patient");
        waiter.start();
        Awaitility.await()
                .atMost(Duration.ofSeconds(20))
                .until(() -> client.snapshot().waiters().size() == 1);
        List<Use> holds = client.snapshot().holds();
        assertThat(holds).extracting(Use::lockName).containsExactly("a", "b", "c");
        assertThat(holds)
                .extracting(Use::mode)
                .containsExactly(LockMode.SHARED, LockMode.EXCLUSIVE, LockMode.EXCLUSIVE);
        assertThat(holds.get(1).threadId()).hasValue(Thread.currentThread().getId());
        assertThat(holds.get(1).threadName()).contains(Thread.currentThread().getName());
        assertThat(holds.get(1).token()).isEmpty();
        assertThat(holds.get(2).threadName()).isEmpty();
        Use waiting = client.snapshot().waiters().get(0);
        assertThat(waiting.lockName()).isEqualTo("b");
        assertThat(waiting.threadName()).contains("patient");
        assertThat(waiting.duration()).isGreaterThanOrEqualTo(Duration.ZERO);
        client.lock("b").unlock();
        waiter.join(10_000);
        client.readWriteLock("a").readLock().unlock();
        async.close();
        assertThat(client.snapshot().holds()).isEmpty();
        assertThat(client.snapshot().waiters()).isEmpty();
    }

    @Test
    void aSnapshotCountsHandOffs() throws Exception {
        client.lock("a").lock();
        CompletableFuture<Integer> handOffs = new CompletableFuture<>();
        Thread next = new Thread(() -> {
            client.lock("a").lock();
            handOffs.complete(client.snapshot().holds().get(0).handOffs());
            client.lock("a").unlock();
        });
        next.start();
        Awaitility.await()
                .atMost(Duration.ofSeconds(20))
                .until(() -> client.snapshot().waiters().size() == 1);
        assertThat(client.snapshot().holds().get(0).handOffs()).isZero();
        client.lock("a").unlock();
        assertThat(handOffs.get(20, TimeUnit.SECONDS)).isOne();
        next.join(10_000);
    }

    @Test
    void theStateOfTheClientIsKnown() {
        assertThat(client.ping()).isGreaterThanOrEqualTo(Duration.ZERO);
        assertThat(client.isClosed()).isFalse();
        assertThat(client.inFallback()).isFalse();
        client.close();
        assertThat(client.isClosed()).isTrue();
        assertThat(client.inFallback()).isFalse();
        assertThat(client.snapshot().holds()).isEmpty();
        assertThatThrownBy(client::ping).isInstanceOf(IllegalStateException.class);
    }
}
