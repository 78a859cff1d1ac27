package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.DistributedLock;
import dev.lockstep.LockLostException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The rules of {@link java.util.concurrent.locks.Lock}: which thread may unlock, and what it gets. */
abstract class LockSemanticsContract extends ContractGroup {
    LockSemanticsContract(LockContract contract) {
        super(contract);
    }

    @Test
    void anAcquiredLockIsHeldUntilItIsReleased() throws Exception {
        forEach(Way.all(), way -> {
            Way.Hold hold = way.take(lock(), Bench.PATIENCE).orElseThrow();
            assertThat(rivalLock().tryLock()).isFalse();
            hold.release();
            assertThat(rivalLock().tryLock()).isTrue();
            rivalLock().unlock();
        });
    }

    @Test
    void aLockKnowsItsName() {
        assertThat(lock().name()).isEqualTo(NAME);
    }

    @Test
    void onlyTheHoldingThreadIsTheHolder() throws Exception {
        Actor another = actor("another");
        assertThat(lock().isHeldByCurrentThread()).isFalse();
        assertThat(lock().holdCount()).isZero();
        lock().lock();
        assertThat(lock().isHeldByCurrentThread()).isTrue();
        assertThat(lock().holdCount()).isEqualTo(1);
        assertThat(another.call(() -> lock().isHeldByCurrentThread())).isFalse();
        assertThat(another.call(() -> lock().holdCount())).isZero();
        assertThat(rivalLock().isHeldByCurrentThread()).isFalse();
        lock().unlock();
        assertThat(lock().isHeldByCurrentThread()).isFalse();
        assertThat(lock().holdCount()).isZero();
    }

    @Test
    void unlockWithoutAHoldIsRefused() {
        assertThatThrownBy(lock()::unlock)
                .isInstanceOf(IllegalMonitorStateException.class)
                .isNotInstanceOf(LockLostException.class)
                .hasMessageContaining(NAME);
    }

    @Test
    void unlockTwiceIsRefused() {
        lock().lock();
        lock().unlock();
        assertThatThrownBy(lock()::unlock)
                .isInstanceOf(IllegalMonitorStateException.class)
                .isNotInstanceOf(LockLostException.class);
    }

    @Test
    void unlockTwiceDoesNotFreeTheNextHolder() throws Exception {
        lock().lock();
        lock().unlock();
        Actor next = actor("next");
        next.does(() -> lock().lock());
        assertThatThrownBy(lock()::unlock).isInstanceOf(IllegalMonitorStateException.class);
        assertThat(bench().isFree(NAME)).isFalse();
        next.does(() -> lock().unlock());
    }

    @Test
    void unlockByAnotherThreadIsRefusedAndFreesNothing() throws Exception {
        lock().lock();
        Actor another = actor("another");
        assertThatThrownBy(() -> another.does(() -> lock().unlock()))
                .isInstanceOf(IllegalMonitorStateException.class)
                .isNotInstanceOf(LockLostException.class);
        assertThat(lock().isHeldByCurrentThread()).isTrue();
        assertThat(bench().isFree(NAME)).isFalse();
        lock().unlock();
    }

    @Test
    void unlockByAnotherClientIsRefusedAndFreesNothing() {
        lock().lock();
        assertThatThrownBy(rivalLock()::unlock)
                .isInstanceOf(IllegalMonitorStateException.class)
                .isNotInstanceOf(LockLostException.class);
        assertThat(bench().isFree(NAME)).isFalse();
        lock().unlock();
    }

    @Test
    void unlockByAWaiterIsRefusedAndItKeepsWaiting() throws Exception {
        rivalLock().lock();
        Actor waiter = actor("waiter");
        Call<Boolean> waiting = waiter.starts(() -> lock().lock());
        bench().awaitWaiters(NAME, 1);
        assertThatThrownBy(lock()::unlock).isInstanceOf(IllegalMonitorStateException.class);
        rivalLock().unlock();
        waiting.get();
        waiter.does(() -> lock().unlock());
    }

    @Test
    void aLockHasNoConditions() {
        assertThatThrownBy(lock()::newCondition)
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining(NAME);
    }

    @Test
    void aReleasedLockGoesToAWaiterOfTheSameClient() throws Exception {
        lock().lock();
        Actor waiter = actor("waiter");
        Call<Boolean> waiting = waiter.starts(() -> lock().lock());
        waiter.awaitParked();
        assertThat(waiting.isDone()).isFalse();
        lock().unlock();
        waiting.get();
        waiter.does(() -> lock().unlock());
    }

    @Test
    void aReleasedLockGoesToAWaiterOfAnotherClient() throws Exception {
        lock().lock();
        Actor waiter = actor("waiter");
        Call<Boolean> waiting = waiter.starts(() -> rivalLock().lock());
        bench().awaitWaiters(NAME, 1);
        assertThat(waiting.isDone()).isFalse();
        lock().unlock();
        waiting.get();
        waiter.does(() -> rivalLock().unlock());
    }

    @Test
    void manyHoldersFollowEachOtherThroughManyClients() throws Exception {
        // One thread per client and one lock: every release must find the next waiter, or the chain stops.
        int clients = 5;
        int rounds = Math.max(10, fixture().attempts() / 50);
        Call<?>[] calls = new Call<?>[clients];
        for (int i = 0; i < clients; i++) {
            DistributedLock mine = bench().client("client-" + i).lock(NAME);
            calls[i] = actor("worker-" + i).starts(() -> {
                for (int round = 0; round < rounds; round++) {
                    assertThat(mine.tryLock(60, TimeUnit.SECONDS)).isTrue();
                    mine.unlock();
                }
            });
        }
        for (Call<?> call : calls) {
            call.get(Duration.ofSeconds(60));
        }
    }
}
