package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockLostException;
import dev.lockstep.LockOptions;
import dev.lockstep.LossReason;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;

/** A maximum time bounds one hold: at its end the hold is lost, and the next waiter is served. */
abstract class MaxHoldContract extends ContractGroup {
    /** Long enough to ask for a token within it on a busy machine. */
    private static final Duration MAX = Duration.ofMillis(600);

    MaxHoldContract(LockContract contract) {
        super(contract);
    }

    private DistributedLock bounded() {
        return client().lock(NAME, LockOptions.defaults().maxHold(MAX));
    }

    /** A hold whose token was drawn in time: a machine that pauses for that time costs one more. */
    private Lease acquireWithToken() throws InterruptedException {
        while (true) {
            Lease lease = bounded().acquire();
            try {
                assertThat(lease.token()).isPositive();
                return lease;
            } catch (LockLostException e) {
                assertThat(e.reason()).isEqualTo(LossReason.MAX_HOLD_REACHED);
                assertThatThrownBy(lease::close).isInstanceOf(LockLostException.class);
            }
        }
    }

    @Test
    void aHoldIsLostWhenItsMaximumTimeEnds() throws Exception {
        Queue<LossReason> reasons = new ConcurrentLinkedQueue<>();
        long start = System.nanoTime();
        Lease lease = bounded().acquire();
        lease.onLost(reasons::add);
        assertThat(lease.remaining()).isLessThanOrEqualTo(MAX);
        Bench.await("the hold is lost", () -> !lease.isValid());
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(MAX);
        assertThat(lease.remaining()).isZero();
        assertThat(bounded().isHeldByCurrentThread()).isFalse();
        assertThat(bounded().holdCount()).isZero();
        Bench.await("the loss is reported", () -> !reasons.isEmpty());
        assertThatThrownBy(lease::close).isInstanceOfSatisfying(LockLostException.class, lost -> {
            assertThat(lost.reason()).isEqualTo(LossReason.MAX_HOLD_REACHED);
            assertThat(lost.lockName()).isEqualTo(NAME);
        });
        lease.close();
        assertThat(reasons).containsExactly(LossReason.MAX_HOLD_REACHED);
        bench().awaitFree(NAME);
    }

    @Test
    void unlockAfterTheMaximumTimeSaysThatTheHoldWasLost() {
        bounded().lock();
        Bench.await("the hold is lost", () -> !bounded().isHeldByCurrentThread());
        assertThatThrownBy(bounded()::unlock)
                .isInstanceOfSatisfying(
                        LockLostException.class,
                        lost -> assertThat(lost.reason()).isEqualTo(LossReason.MAX_HOLD_REACHED));
        assertThatThrownBy(bounded()::unlock)
                .isInstanceOf(IllegalMonitorStateException.class)
                .isNotInstanceOf(LockLostException.class);
        bounded().lock();
        bounded().unlock();
    }

    @Test
    void theNextWaiterOfAnotherClientGetsIn() throws Exception {
        Lease lease = acquireWithToken();
        long token = lease.token();
        try (Lease next = rivalLock().acquire()) {
            assertThat(lease.isValid()).isFalse();
            assertThat(next.token()).isGreaterThan(token);
            assertThatThrownBy(lease::close).isInstanceOf(LockLostException.class);
            assertThat(bench().isFree(NAME)).isFalse();
            assertThat(next.isValid()).isTrue();
        }
    }

    @Test
    void theNextWaiterOfTheSameClientGetsIn() throws Exception {
        Lease lease = acquireWithToken();
        long token = lease.token();
        Actor waiter = actor("waiter");
        waiter.does(() -> {
            try (Lease next = lock().acquire()) {
                assertThat(lease.isValid()).isFalse();
                assertThat(next.token()).isGreaterThan(token);
            }
        });
        assertThatThrownBy(lease::close).isInstanceOf(LockLostException.class);
    }

    @Test
    void theMaximumTimeOfOneHoldDoesNotEndTheNext() throws Exception {
        Lease bounded = bounded().acquire();
        Bench.await("the hold is lost", () -> !bounded.isValid());
        assertThatThrownBy(bounded::close).isInstanceOf(LockLostException.class);
        bounded().lock();
        bounded().unlock();
        // Timers of both earlier holds are due while this one lasts.
        try (Lease unbounded = lock().acquire()) {
            Bench.letPass(MAX.multipliedBy(2));
            assertThat(unbounded.isValid()).isTrue();
            assertThat(bench().isFree(NAME)).isFalse();
        }
    }

    @Test
    void reentryDoesNotExtendTheMaximumTime() throws Exception {
        bounded().lock();
        long start = System.nanoTime();
        while (bounded().isHeldByCurrentThread()) {
            try (Lease again = bounded().acquire()) {
                again.onLost(reason -> {});
                assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Bench.AT_ONCE);
            } catch (LockLostException e) {
                assertThat(e.reason()).isEqualTo(LossReason.MAX_HOLD_REACHED);
            }
        }
        assertThatThrownBy(bounded()::unlock).isInstanceOf(LockLostException.class);
        bounded().lock();
        bounded().unlock();
    }

    @Test
    void everyReentrantHoldIsLostAndReleasedOnItsOwn() throws Exception {
        bounded().lock();
        bounded().lock();
        Lease lease = bounded().acquire();
        Bench.await("the hold is lost", () -> bounded().holdCount() == 0);
        assertThatThrownBy(bounded()::unlock).isInstanceOf(LockLostException.class);
        assertThatThrownBy(lease::close).isInstanceOf(LockLostException.class);
        assertThatThrownBy(bounded()::lock).isInstanceOf(LockLostException.class);
        assertThatThrownBy(bounded()::unlock).isInstanceOf(LockLostException.class);
        bounded().lock();
        bounded().unlock();
    }

    @Test
    void aMaximumTimeLongerThanTheTtlIsRenewedUntilItsEnd() throws Exception {
        LockClient renewing = openRenewing("renewing");
        Duration bound = longerThanRenewedTtl();
        long start = System.nanoTime();
        Lease lease = renewing.lock(NAME, LockOptions.defaults().maxHold(bound)).acquire();
        Bench.await("the hold is lost", () -> !lease.isValid());
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(bound);
        assertThatThrownBy(lease::close)
                .isInstanceOfSatisfying(
                        LockLostException.class,
                        lost -> assertThat(lost.reason()).isEqualTo(LossReason.MAX_HOLD_REACHED));
    }

    @Test
    void anAsynchronousHoldEndsWithItsMaximumTimeToo() throws Exception {
        Lease lease = bounded().acquireAsync().get();
        rivalLock().acquire().close();
        assertThat(lease.isValid()).isFalse();
        assertThatThrownBy(lease::close).isInstanceOf(LockLostException.class);
    }
}
