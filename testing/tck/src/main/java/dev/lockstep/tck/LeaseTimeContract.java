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

/** An explicit lease time bounds one hold: at its end the hold is lost, and the next waiter is served. */
abstract class LeaseTimeContract extends ContractGroup {
    /** Long enough to ask for a token within it on a busy machine. */
    private static final Duration LEASE = Duration.ofMillis(600);

    LeaseTimeContract(LockContract contract) {
        super(contract);
    }

    private DistributedLock leased() {
        return client().lock(NAME, LockOptions.defaults().lease(LEASE));
    }

    /** A hold whose token was drawn in time: a machine that stands still for a lease time costs one more. */
    private Lease acquireWithToken() throws InterruptedException {
        while (true) {
            Lease lease = leased().acquire();
            try {
                assertThat(lease.token()).isPositive();
                return lease;
            } catch (LockLostException e) {
                assertThat(e.reason()).isEqualTo(LossReason.LEASE_ENDED);
                assertThatThrownBy(lease::close).isInstanceOf(LockLostException.class);
            }
        }
    }

    @Test
    void aHoldIsLostWhenItsLeaseTimeEnds() throws Exception {
        Queue<LossReason> reasons = new ConcurrentLinkedQueue<>();
        long start = System.nanoTime();
        Lease lease = leased().acquire();
        lease.onLost(reasons::add);
        assertThat(lease.remaining()).isLessThanOrEqualTo(LEASE);
        Bench.await("the hold is lost", () -> !lease.isValid());
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(LEASE);
        assertThat(lease.remaining()).isZero();
        assertThat(leased().isHeldByCurrentThread()).isFalse();
        assertThat(leased().holdCount()).isZero();
        Bench.await("the loss is told", () -> !reasons.isEmpty());
        assertThatThrownBy(lease::close).isInstanceOfSatisfying(LockLostException.class, lost -> {
            assertThat(lost.reason()).isEqualTo(LossReason.LEASE_ENDED);
            assertThat(lost.lockName()).isEqualTo(NAME);
        });
        lease.close();
        assertThat(reasons).containsExactly(LossReason.LEASE_ENDED);
        bench().awaitFree(NAME);
    }

    @Test
    void unlockAfterTheLeaseTimeSaysThatTheHoldWasLost() {
        leased().lock();
        Bench.await("the hold is lost", () -> !leased().isHeldByCurrentThread());
        assertThatThrownBy(leased()::unlock)
                .isInstanceOfSatisfying(
                        LockLostException.class,
                        lost -> assertThat(lost.reason()).isEqualTo(LossReason.LEASE_ENDED));
        assertThatThrownBy(leased()::unlock)
                .isInstanceOf(IllegalMonitorStateException.class)
                .isNotInstanceOf(LockLostException.class);
        leased().lock();
        leased().unlock();
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
    void theLeaseTimeOfOneHoldDoesNotEndTheNext() throws Exception {
        Lease bounded = leased().acquire();
        Bench.await("the hold is lost", () -> !bounded.isValid());
        assertThatThrownBy(bounded::close).isInstanceOf(LockLostException.class);
        leased().lock();
        leased().unlock();
        // Timers of both earlier holds are due while this one lasts.
        try (Lease unbounded = lock().acquire()) {
            Bench.letPass(LEASE.multipliedBy(2));
            assertThat(unbounded.isValid()).isTrue();
            assertThat(bench().isFree(NAME)).isFalse();
        }
    }

    @Test
    void reentryDoesNotExtendTheLeaseTime() throws Exception {
        leased().lock();
        long start = System.nanoTime();
        while (leased().isHeldByCurrentThread()) {
            try (Lease again = leased().acquire()) {
                again.onLost(reason -> {});
                assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Bench.AT_ONCE);
            } catch (LockLostException e) {
                assertThat(e.reason()).isEqualTo(LossReason.LEASE_ENDED);
            }
        }
        assertThatThrownBy(leased()::unlock).isInstanceOf(LockLostException.class);
        leased().lock();
        leased().unlock();
    }

    @Test
    void everyReentrantHoldIsLostAndGivenBackOnItsOwn() throws Exception {
        leased().lock();
        leased().lock();
        Lease lease = leased().acquire();
        Bench.await("the hold is lost", () -> leased().holdCount() == 0);
        assertThatThrownBy(leased()::unlock).isInstanceOf(LockLostException.class);
        assertThatThrownBy(lease::close).isInstanceOf(LockLostException.class);
        assertThatThrownBy(leased()::lock).isInstanceOf(LockLostException.class);
        assertThatThrownBy(leased()::unlock).isInstanceOf(LockLostException.class);
        leased().lock();
        leased().unlock();
    }

    @Test
    void aLeaseTimeLongerThanTheTtlIsRenewedUntilItsEnd() throws Exception {
        LockClient renewing = openRenewing("renewing");
        Duration bound = longerThanRenewedTtl();
        long start = System.nanoTime();
        Lease lease = renewing.lock(NAME, LockOptions.defaults().lease(bound)).acquire();
        Bench.await("the hold is lost", () -> !lease.isValid());
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(bound);
        assertThatThrownBy(lease::close)
                .isInstanceOfSatisfying(
                        LockLostException.class,
                        lost -> assertThat(lost.reason()).isEqualTo(LossReason.LEASE_ENDED));
    }

    @Test
    void anAsynchronousHoldEndsWithItsLeaseTimeToo() throws Exception {
        Lease lease = leased().acquireAsync().get();
        rivalLock().acquire().close();
        assertThat(lease.isValid()).isFalse();
        assertThatThrownBy(lease::close).isInstanceOf(LockLostException.class);
    }
}
