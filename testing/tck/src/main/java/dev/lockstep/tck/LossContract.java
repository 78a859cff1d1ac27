package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockLostException;
import dev.lockstep.LockMode;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.LossReason;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A holder that cannot reach the engine learns that it lost the lock, before another can have it. */
@Requires(Capability.BREAK_CONNECTION)
abstract class LossContract extends ContractGroup {
    LossContract(LockContract contract) {
        super(contract);
    }

    @Test
    void theHolderKnowsOfTheLossBeforeTheNextHolderStarts() throws Exception {
        LockClient cutOff = openShortLived("cut-off");
        Lease lease = cutOff.lock(NAME).acquire();
        long token = lease.token();
        fixture().breakConnection(cutOff);
        try (Lease next = rivalLock().acquire()) {
            assertThat(lease.isValid()).isFalse();
            assertThat(lease.remaining()).isZero();
            assertThat(cutOff.lock(NAME).isHeldByCurrentThread()).isFalse();
            assertThat(cutOff.lock(NAME).holdCount()).isZero();
            assertThat(next.token()).isGreaterThan(token);
            assertThat(lease.token()).isEqualTo(token);
            assertThatThrownBy(lease::ensureValid).isInstanceOf(LockLostException.class);
        }
        assertThatThrownBy(lease::close).isInstanceOf(LockLostException.class);
    }

    @Test
    void theLossIsReportedOnceWithAReason() throws Exception {
        Queue<LossReason> reasons = new ConcurrentLinkedQueue<>();
        RecordingListener listener = new RecordingListener();
        LockClient cutOff =
                open(builder -> builder.clientName("cut-off").ttl(shortTtl()).listener(listener));
        Lease lease = cutOff.lock(NAME).acquire();
        lease.onLost(reasons::add);
        fixture().breakConnection(cutOff);
        Bench.await(
                "the loss is reported",
                () -> !reasons.isEmpty() && !listener.lost().isEmpty());
        assertThat(lease.isValid()).isFalse();
        fixture().healConnection(cutOff);
        // The engine can be asked again: what it says about the lost hold is no second loss.
        Bench.await("the engine answers", () -> answers(cutOff));
        Bench.letPass(shortTtl());
        assertThat(reasons).hasSize(1).containsAnyOf(LossReason.EXPIRED, LossReason.SESSION_ENDED);
        assertThat(listener.lost()).singleElement().satisfies(lost -> {
            assertThat(lost.lockName()).isEqualTo(NAME);
            assertThat(lost.mode()).isEqualTo(LockMode.EXCLUSIVE);
            assertThat(lost.reason()).isEqualTo(reasons.peek());
        });
        assertThatThrownBy(lease::close)
                .isInstanceOfSatisfying(
                        LockLostException.class,
                        lost -> assertThat(lost.reason()).isEqualTo(reasons.peek()));
        lease.close();
        Queue<LossReason> late = new ConcurrentLinkedQueue<>();
        lease.onLost(late::add);
        Bench.await("a late question is answered", () -> late.size() == 1);
        assertThat(listener.released()).isEmpty();
    }

    @Test
    void unlockSaysThatTheHoldWasLost() {
        LockClient cutOff = openShortLived("cut-off");
        DistributedLock lock = cutOff.lock(NAME);
        lock.lock();
        fixture().breakConnection(cutOff);
        Bench.await("the hold is lost", () -> !lock.isHeldByCurrentThread());
        assertThatThrownBy(lock::unlock).isInstanceOf(LockLostException.class).hasMessageContaining(NAME);
        assertThatThrownBy(lock::unlock)
                .isInstanceOf(IllegalMonitorStateException.class)
                .isNotInstanceOf(LockLostException.class);
    }

    @Test
    void aLostHoldIsNotReentered() {
        LockClient cutOff = openShortLived("cut-off");
        DistributedLock lock = cutOff.lock(NAME);
        lock.lock();
        fixture().breakConnection(cutOff);
        Bench.await("the hold is lost", () -> !lock.isHeldByCurrentThread());
        fixture().healConnection(cutOff);
        Bench.await("the engine answers", () -> answers(cutOff));
        for (Way way : EnumSet.complementOf(EnumSet.of(Way.ACQUIRE_ASYNC, Way.TRY_ACQUIRE_ASYNC))) {
            assertThatThrownBy(() -> way.take(lock, Duration.ofSeconds(1)))
                    .as("%s", way)
                    .isInstanceOf(LockLostException.class);
            assertThat(lock.holdCount()).isZero();
        }
        assertThatThrownBy(lock::unlock).isInstanceOf(LockLostException.class);
        assertThatThrownBy(lock::unlock)
                .isInstanceOf(IllegalMonitorStateException.class)
                .isNotInstanceOf(LockLostException.class);
    }

    @Test
    void aNewHoldCanBeTakenOnceTheLostOneIsReleased() throws Exception {
        LockClient cutOff = openShortLived("cut-off");
        DistributedLock lock = cutOff.lock(NAME);
        Lease lost = lock.acquire();
        long token = lost.token();
        fixture().breakConnection(cutOff);
        Bench.await("the hold is lost", () -> !lost.isValid());
        fixture().healConnection(cutOff);
        assertThatThrownBy(lost::close).isInstanceOf(LockLostException.class);
        Bench.await("the engine answers", () -> answers(cutOff));
        try (Lease lease = lock.acquire()) {
            assertThat(lease.isValid()).isTrue();
            assertThat(lease.token()).isGreaterThan(token);
            assertThat(lock.holdCount()).isEqualTo(1);
            assertThat(bench().isFree(NAME)).isFalse();
        }
    }

    @Test
    void aLateReleaseDoesNotFreeTheNextHolder() throws Exception {
        LockClient cutOff = openShortLived("cut-off");
        DistributedLock lock = cutOff.lock(NAME);
        lock.lock();
        fixture().breakConnection(cutOff);
        try (Lease next = rivalLock().acquire()) {
            fixture().healConnection(cutOff);
            Bench.await("the engine answers", () -> answers(cutOff));
            assertThatThrownBy(lock::unlock).isInstanceOf(LockLostException.class);
            assertThat(bench().isFree(NAME)).isFalse();
            assertThat(next.isValid()).isTrue();
            // Nor does a request that the release may have left to the background.
            Bench.letPass(Duration.ofMillis(300));
            assertThat(bench().isFree(NAME)).isFalse();
        }
    }

    @Test
    void aTokenThatIsFirstAskedForAfterTheLossIsRefused() throws Exception {
        LockClient cutOff = openShortLived("cut-off");
        Lease lease = cutOff.lock(NAME).acquire();
        fixture().breakConnection(cutOff);
        Bench.await("the hold is lost", () -> !lease.isValid());
        assertThatThrownBy(lease::token).isInstanceOf(LockLostException.class);
        assertThatThrownBy(() -> lease.token(NAME)).isInstanceOf(LockLostException.class);
        assertThatThrownBy(lease::close).isInstanceOf(LockLostException.class);
    }

    @Test
    void anAsynchronousHoldIsLostLikeAnyOther() throws Exception {
        LockClient cutOff = openShortLived("cut-off");
        Lease lease = cutOff.lock(NAME).acquireAsync().get();
        fixture().breakConnection(cutOff);
        rivalLock().acquire().close();
        assertThat(lease.isValid()).isFalse();
        assertThatThrownBy(() -> lease.closeAsync().get(20, TimeUnit.SECONDS))
                .hasCauseInstanceOf(LockLostException.class);
        lease.close();
    }

    @Test
    void anotherThreadOfTheClientMayTakeTheLockAfterALoss() throws Exception {
        LockClient cutOff = openShortLived("cut-off");
        DistributedLock lock = cutOff.lock(NAME);
        lock.lock();
        fixture().breakConnection(cutOff);
        Bench.await("the hold is lost", () -> !lock.isHeldByCurrentThread());
        fixture().healConnection(cutOff);
        Bench.await("the engine answers", () -> answers(cutOff));
        Actor another = actor("another");
        another.does(() -> {
            lock.lock();
            assertThat(lock.isHeldByCurrentThread()).isTrue();
        });
        // The loser's late unlock is its own affair.
        assertThatThrownBy(lock::unlock).isInstanceOf(LockLostException.class);
        assertThat(another.call(lock::isHeldByCurrentThread)).isTrue();
        assertThat(bench().isFree(NAME)).isFalse();
        another.does(lock::unlock);
    }

    @Test
    @Requires(Capability.SHARED)
    void readersLoseTheirHoldsTogether() throws Exception {
        LockClient cutOff = openShortLived("cut-off");
        Lease first = cutOff.readWriteLock(NAME).readLock().acquireAsync().get();
        Lease second = cutOff.readWriteLock(NAME).readLock().acquireAsync().get();
        fixture().breakConnection(cutOff);
        try (Lease writer = rivalLock().acquire()) {
            assertThat(writer.isValid()).isTrue();
            assertThat(first.isValid()).isFalse();
            assertThat(second.isValid()).isFalse();
        }
        assertThatThrownBy(first::close).isInstanceOf(LockLostException.class);
        assertThatThrownBy(second::close).isInstanceOf(LockLostException.class);
    }

    @Test
    void anOutageShorterThanTheTtlLosesNothing() throws Exception {
        Duration ttl = shortTtl().multipliedBy(4);
        LockClient shaken = open(builder -> builder.clientName("shaken").ttl(ttl));
        try (Lease lease = shaken.lock(NAME).acquire()) {
            fixture().breakConnection(shaken);
            Bench.letPass(shortTtl());
            fixture().healConnection(shaken);
            Bench.letPass(ttl);
            assertThat(lease.isValid()).isTrue();
            assertThat(bench().isFree(NAME)).isFalse();
        }
    }

    @Test
    void theLossOfOneClientIsNotAnothers() throws Exception {
        LockClient cutOff = openShortLived("cut-off");
        Lease lost = cutOff.lock(NAME).acquire();
        try (Lease kept = rival().lock("another").acquire()) {
            fixture().breakConnection(cutOff);
            Bench.await("the hold is lost", () -> !lost.isValid());
            assertThat(kept.isValid()).isTrue();
        }
        assertThatThrownBy(lost::close).isInstanceOf(LockLostException.class);
    }

    private static boolean answers(LockClient client) {
        try {
            client.inspect(NAME);
            return true;
        } catch (LockUnavailableException e) {
            return false;
        }
    }
}
