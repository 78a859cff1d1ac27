package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockOptions;
import dev.lockstep.SelfDeadlockException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A thread takes again what it holds, without asking the engine; a non-reentrant lock refuses that at once. */
abstract class ReentrancyContract extends ContractGroup {
    private static final LockOptions NON_REENTRANT = LockOptions.defaults().nonReentrant();
    private static final Duration LONG = Duration.ofSeconds(60);

    ReentrancyContract(LockContract contract) {
        super(contract);
    }

    @Test
    void aThreadReentersWhatItHolds() throws Exception {
        forEach(Way.ofAThread(), way -> {
            lock().lock();
            Way.Hold second = way.take(lock(), Duration.ZERO).orElseThrow();
            Way.Hold third = way.take(lock(), Duration.ZERO).orElseThrow();
            assertThat(lock().holdCount()).isEqualTo(3);
            third.release();
            second.release();
            assertThat(lock().holdCount()).isEqualTo(1);
            assertThat(bench().isFree(NAME)).isFalse();
            lock().unlock();
            assertThat(bench().isFree(NAME)).isTrue();
        });
    }

    @Test
    void aLockCanBeReenteredDeeply() {
        for (int i = 0; i < 1_000; i++) {
            lock().lock();
        }
        assertThat(lock().holdCount()).isEqualTo(1_000);
        for (int i = 0; i < 1_000; i++) {
            assertThat(lock().isHeldByCurrentThread()).isTrue();
            lock().unlock();
        }
        assertThat(lock().isHeldByCurrentThread()).isFalse();
        assertThat(bench().isFree(NAME)).isTrue();
    }

    @Test
    void unlockUndoesOnlyLockAndCloseOnlyItsOwnLease() throws Exception {
        lock().lock();
        Lease lease = lock().acquire();
        assertThat(lock().holdCount()).isEqualTo(2);
        lock().unlock();
        assertThat(lock().holdCount()).isEqualTo(1);
        assertThat(lease.isValid()).isTrue();
        assertThatThrownBy(lock()::unlock).isInstanceOf(IllegalMonitorStateException.class);
        assertThat(lease.isValid()).isTrue();
        assertThat(bench().isFree(NAME)).isFalse();
        lease.close();
        assertThat(bench().isFree(NAME)).isTrue();
    }

    @Test
    void aLeaseThatIsClosedTwiceGivesBackOneHold() throws Exception {
        Lease first = lock().acquire();
        Lease second = lock().acquire();
        second.close();
        second.close();
        assertThat(second.isValid()).isFalse();
        assertThat(first.isValid()).isTrue();
        assertThat(lock().holdCount()).isEqualTo(1);
        assertThat(bench().isFree(NAME)).isFalse();
        first.close();
        assertThat(bench().isFree(NAME)).isTrue();
    }

    @Test
    void leasesMayBeClosedInAnyOrder() throws Exception {
        Lease first = lock().acquire();
        Lease second = lock().acquire();
        first.close();
        assertThat(second.isValid()).isTrue();
        assertThat(bench().isFree(NAME)).isFalse();
        second.close();
        assertThat(bench().isFree(NAME)).isTrue();
    }

    @Test
    void reentrantHoldsHaveOneToken() throws Exception {
        Lease first = lock().acquire();
        Lease second = lock().acquire();
        long token = second.token();
        assertThat(first.token()).isEqualTo(token);
        first.close();
        try (Lease third = lock().acquire()) {
            assertThat(third.token()).isEqualTo(token);
        }
        second.close();
        try (Lease next = lock().acquire()) {
            assertThat(next.token()).isGreaterThan(token);
        }
    }

    @Test
    void aLockIsReenteredBeforeAThreadThatWaits() throws Exception {
        lock().lock();
        Actor local = actor("local waiter");
        Call<Boolean> localWait = local.starts(() -> {
            lock().lock();
            lock().unlock();
        });
        local.awaitParked();
        Call<Boolean> remoteWait = actor("remote waiter").starts(() -> {
            rivalLock().lock();
            rivalLock().unlock();
        });
        bench().awaitWaiters(NAME, 1);
        lock().lock();
        lock().unlock();
        assertThat(localWait.isDone()).isFalse();
        assertThat(remoteWait.isDone()).isFalse();
        lock().unlock();
        localWait.get();
        remoteWait.get();
    }

    @Test
    @Requires(Capability.BREAK_CONNECTION)
    void reentryNeedsNoEngine() {
        lock().lock();
        fixture().breakConnection(client());
        for (int i = 0; i < 100; i++) {
            lock().lock();
            lock().unlock();
        }
        assertThat(lock().tryLock()).isTrue();
        lock().unlock();
        fixture().healConnection(client());
        lock().unlock();
        assertThat(bench().isFree(NAME)).isTrue();
    }

    @Alone
    @Test
    @Requires(Capability.COUNT_REQUESTS)
    void reentryCostsNoRequest() {
        lock().lock();
        long before = fixture().requestCount();
        for (int i = 0; i < 1_000; i++) {
            lock().lock();
            lock().unlock();
        }
        assertThat(fixture().requestCount() - before).isLessThan(100);
        lock().unlock();
    }

    @Test
    void anAsynchronousCallIsNotReentrant() throws Exception {
        lock().lock();
        assertThat(lock().tryAcquireAsync(Duration.ZERO).get()).isEmpty();
        CompletableFuture<Lease> waiting = lock().acquireAsync();
        assertThat(lock().holdCount()).isEqualTo(1);
        assertThat(waiting).isNotDone();
        lock().unlock();
        Lease lease = waiting.get();
        assertThat(lock().isHeldByCurrentThread()).isFalse();
        assertThat(lock().tryLock()).isFalse();
        lease.close();
    }

    @Test
    void aNonReentrantLockRefusesToWaitForItself() throws Exception {
        forEach(Way.ofAThread(), way -> {
            DistributedLock lock = client().lock(NAME, NON_REENTRANT);
            lock.lock();
            assertThat(Bench.timed(() -> assertThatThrownBy(() -> way.take(lock, LONG))
                            .isInstanceOfSatisfying(
                                    SelfDeadlockException.class,
                                    failure -> assertThat(failure.lockName()).isEqualTo(NAME))
                            .hasMessageContaining(NAME)))
                    .isLessThan(Bench.AT_ONCE);
            assertThat(lock.holdCount()).isEqualTo(1);
            assertThat(bench().isFree(NAME)).isFalse();
            lock.unlock();
            assertThat(bench().isFree(NAME)).isTrue();
        });
    }

    @Test
    void severalLocksAndTheTemplateRefuseToWaitForThemselvesToo() throws Exception {
        DistributedLock lock = client().lock(NAME, NON_REENTRANT);
        try (Lease lease = lock.acquire()) {
            DistributedLock several = client().multiLock(List.of("another", NAME), NON_REENTRANT);
            assertThatThrownBy(several::tryLock).isInstanceOf(SelfDeadlockException.class);
            assertThatThrownBy(() -> client().template(NON_REENTRANT).execute(NAME, inner -> 1))
                    .isInstanceOf(SelfDeadlockException.class);
            assertThat(lease.isValid()).isTrue();
            assertThat(bench().isFree("another")).isTrue();
        }
        assertThat(bench().isFree(NAME)).isTrue();
    }

    @Test
    void aNonReentrantLockIsWaitedForByOtherThreads() throws Exception {
        DistributedLock lock = client().lock(NAME, NON_REENTRANT);
        lock.lock();
        Actor waiter = actor("waiter");
        Call<Boolean> waiting = waiter.starts(lock::lock);
        waiter.awaitParked();
        lock.unlock();
        waiting.get();
        waiter.does(lock::unlock);
    }

    @Test
    void usersOfANameMustAgreeOnReentrancyWhileItIsInUse() throws Exception {
        lock().lock();
        Actor another = actor("another");
        assertThatThrownBy(() ->
                        another.does(() -> client().lock(NAME, NON_REENTRANT).lock()))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining(NAME);
        lock().unlock();
        another.does(() -> {
            client().lock(NAME, NON_REENTRANT).lock();
            client().lock(NAME, NON_REENTRANT).unlock();
        });
    }

    @Test
    @Requires(Capability.FAIR)
    void usersOfANameMustAgreeOnFairnessWhileItIsInUse() throws Exception {
        DistributedLock fair = client().lock(NAME, LockOptions.defaults().fair());
        fair.lock();
        Actor another = actor("another");
        assertThatThrownBy(() -> another.does(() -> lock().lock()))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining(NAME);
        fair.unlock();
        another.does(() -> {
            lock().lock();
            lock().unlock();
        });
    }

    @Test
    void usersOfANameNeedNotAgreeOnMaximumTimeOrHandOff() {
        DistributedLock leased =
                client().lock(NAME, LockOptions.defaults().maxHold(LONG).handOff(3));
        lock().lock();
        leased.lock();
        assertThat(lock().holdCount()).isEqualTo(2);
        leased.unlock();
        lock().unlock();
    }
}
