package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockLostException;
import dev.lockstep.LossReason;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A lease is one hold as a handle: it knows its token and its end, and releases its own hold once. */
abstract class LeaseContract extends ContractGroup {
    LeaseContract(LockContract contract) {
        super(contract);
    }

    @Test
    void aLeaseIsValidUntilItIsClosed() throws Exception {
        Lease lease = lock().acquire();
        assertThat(lease.lockName()).isEqualTo(NAME);
        assertThat(lease.isValid()).isTrue();
        assertThat(lease.remaining()).isPositive();
        lease.ensureValid();
        lease.close();
        assertThat(lease.isValid()).isFalse();
        assertThat(lease.remaining()).isZero();
        assertThatThrownBy(lease::ensureValid)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(NAME);
    }

    @Test
    void theRemainingTimeIsNoMoreThanTheTtl() throws Exception {
        LockClient shortLived = openShortLived("short-lived");
        try (Lease lease = shortLived.lock(NAME).acquire()) {
            assertThat(lease.remaining()).isPositive().isLessThanOrEqualTo(shortTtl());
        }
    }

    @Test
    void aTokenStaysTheSame() throws Exception {
        Lease lease = lock().acquire();
        long token = lease.token();
        assertThat(token).isPositive();
        assertThat(lease.token()).isEqualTo(token);
        assertThat(lease.token(NAME)).isEqualTo(token);
        lease.close();
        assertThat(lease.token()).isEqualTo(token);
        assertThat(lease.token(NAME)).isEqualTo(token);
    }

    @Test
    void aTokenOfAnotherLockIsRefused() throws Exception {
        try (Lease lease = lock().acquire()) {
            assertThatThrownBy(() -> lease.token("another")).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void aTokenCannotBeDrawnAfterTheHoldWasReleased() throws Exception {
        Lease lease = lock().acquire();
        lease.close();
        assertThatThrownBy(lease::token).isInstanceOf(IllegalStateException.class);
        // Not even while the same client holds the lock again: that would be its successor's token.
        try (Lease next = lock().acquire()) {
            assertThatThrownBy(lease::token).isInstanceOf(IllegalStateException.class);
            assertThat(next.token()).isPositive();
        }
    }

    @Test
    void aTokenMayBeAskedForByAnyThread() throws Exception {
        try (Lease lease = lock().acquire()) {
            long seenElsewhere = actor("another").call(lease::token);
            assertThat(seenElsewhere).isEqualTo(lease.token());
        }
    }

    @Test
    void closingAgainDoesNotFreeTheNextHolder() throws Exception {
        Lease lease = lock().acquire();
        lease.close();
        rivalLock().lock();
        lease.close();
        lease.closeAsync().get(20, TimeUnit.SECONDS);
        assertThat(bench().isFree(NAME)).isFalse();
        rivalLock().unlock();
        Actor next = actor("next");
        next.does(() -> lock().lock());
        lease.close();
        assertThat(bench().isFree(NAME)).isFalse();
        next.does(() -> lock().unlock());
    }

    @Test
    void aLeaseOfASynchronousCallIsClosedByItsThreadAlone() throws Exception {
        Lease lease = lock().acquire();
        Actor another = actor("another");
        assertThatThrownBy(() -> another.does(lease::close))
                .isInstanceOf(IllegalMonitorStateException.class)
                .isNotInstanceOf(LockLostException.class);
        assertThatThrownBy(() -> another.call(lease::closeAsync))
                .isInstanceOf(IllegalMonitorStateException.class)
                .isNotInstanceOf(LockLostException.class);
        assertThat(lease.isValid()).isTrue();
        assertThat(bench().isFree(NAME)).isFalse();
        lease.close();
        assertThat(bench().isFree(NAME)).isTrue();
    }

    @Test
    void aLeaseCanBeClosedWithoutWaiting() throws Exception {
        Lease lease = lock().acquire();
        lease.closeAsync().get(20, TimeUnit.SECONDS);
        assertThat(lease.isValid()).isFalse();
        assertThat(lock().holdCount()).isZero();
        assertThat(bench().isFree(NAME)).isTrue();
    }

    @Test
    void aHoldThatIsReleasedInTimeIsNeverReportedLost() throws Exception {
        LockClient shortLived = openShortLived("short-lived");
        Queue<LossReason> reasons = new ConcurrentLinkedQueue<>();
        Lease lease = shortLived.lock(NAME).acquire();
        lease.onLost(reasons::add);
        lease.close();
        lease.onLost(reasons::add);
        // A loss would be reported at the latest when the ttl of the released hold has passed.
        Bench.letPass(shortTtl().plusMillis(200));
        assertThat(reasons).isEmpty();
    }

    @Test
    void aHoldDoesNotExpireUnderALiveHolder() throws Exception {
        LockClient renewing = openRenewing("renewing");
        Queue<LossReason> reasons = new ConcurrentLinkedQueue<>();
        try (Lease lease = renewing.lock(NAME).acquire()) {
            lease.onLost(reasons::add);
            long end = System.nanoTime() + longerThanRenewedTtl().toNanos();
            while (System.nanoTime() - end < 0) {
                assertThat(lease.isValid()).isTrue();
                assertThat(rivalLock().tryLock()).isFalse();
                Bench.letPass(Duration.ofMillis(20));
            }
            assertThat(lease.remaining()).isPositive().isLessThanOrEqualTo(renewedTtl());
        }
        assertThat(reasons).isEmpty();
        assertThat(bench().isFree(NAME)).isTrue();
    }

    @Test
    void renewalDoesNotNeedTheUsersExecutor() throws Exception {
        CountDownLatch unblocked = new CountDownLatch(1);
        ExecutorService oneThread = Executors.newSingleThreadExecutor();
        try {
            oneThread.execute(() -> Call.quietly(unblocked::await));
            LockClient starved = open(
                    builder -> builder.clientName("starved").ttl(renewedTtl()).executor(oneThread));
            try (Lease lease = starved.lock(NAME).acquire()) {
                Bench.letPass(longerThanRenewedTtl());
                assertThat(lease.isValid()).isTrue();
                assertThat(bench().isFree(NAME)).isFalse();
            }
            assertThat(bench().isFree(NAME)).isTrue();
            unblocked.countDown();
            starved.close();
        } finally {
            unblocked.countDown();
            oneThread.shutdown();
        }
    }

    @Test
    void aLeaseThatIsForgottenDoesNotHarmLaterHolds() throws Exception {
        LockClient careless = open(builder -> builder.clientName("careless"));
        careless.lock(NAME).acquireAsync().get();
        assertThat(rivalLock().tryLock()).isFalse();
        careless.close();
        assertThat(rivalLock().tryAcquire(Duration.ofSeconds(5)))
                .isPresent()
                .get()
                .satisfies(Lease::close);
    }
}
