package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.DistributedSemaphore;
import dev.lockstep.LockClient;
import dev.lockstep.LockInfo;
import dev.lockstep.LockLostException;
import dev.lockstep.LockOptions;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.LossReason;
import dev.lockstep.Permit;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;

/** Permits: how one begins and ends, by its holder, by time, by a fault, and that nothing of it is left. */
abstract class PermitContract extends SemaphoreGroup {
    PermitContract(LockContract contract) {
        super(contract);
    }

    /** A permit is released once and only by its handle, so no stray release adds a permit. */
    @Test
    @Requires(Capability.LIMITS)
    void aPermitIsReleasedOnceByItsHandleInAnyThread() throws Exception {
        Permit one = semaphore(1).acquire();
        actor("another thread").starts(one::close).get();
        one.close();
        one.closeAsync().get();
        assertThat(one.isValid()).isFalse();
        assertThatThrownBy(one::ensureValid).isInstanceOf(IllegalStateException.class);
        Permit next = rivals(1).tryAcquire().orElseThrow();
        one.close();
        assertThat(semaphore(1).tryAcquire()).isEmpty();
        assertThat(next.isValid()).isTrue();
        next.close();
        assertThat(semaphore(1).availablePermits()).isEqualTo(1);
    }

    @Test
    @Requires(Capability.LIMITS)
    void anInterruptAndACancellationLeaveNothing() throws Exception {
        try (Permit held = rivals(1).acquire()) {
            Actor actor = actor("interrupted");
            Call<Boolean> waiting = actor.starts(() -> semaphore(1).acquire());
            CompletableFuture<Permit> future = semaphore(1).acquireAsync();
            CompletableFuture<Permit> completed = semaphore(1).acquireAsync();
            bench().awaitWaiters(NAME, 3);
            completed.complete(held); // by its user
            actor.interrupt();
            assertThatThrownBy(waiting::get).isInstanceOf(InterruptedException.class);
            future.cancel(false);
            bench().awaitWaiters(NAME, 0);
            assertThat(held.isValid()).isTrue();
        }
        assertThat(semaphore(1).availablePermits()).isEqualTo(1);
    }

    @Test
    @Requires(Capability.LIMITS)
    void permitsOfALiveHolderAreRenewed() throws Exception {
        LockClient renewing = openRenewing("renewing");
        try (Permit permit = renewing.semaphore(NAME, 1).acquire()) {
            Bench.letPass(longerThanRenewedTtl());
            assertThat(permit.isValid()).isTrue();
            assertThat(permit.remaining()).isPositive();
            assertThat(rivals(1).tryAcquire()).isEmpty();
        }
    }

    @Test
    @Requires(Capability.LIMITS)
    void aMaximumTimeEndsAPermit() throws Exception {
        LockOptions brief = LockOptions.defaults().maxHold(Duration.ofMillis(100));
        Permit permit = client().semaphore(NAME, 1, brief).acquire();
        Queue<LossReason> reasons = new ConcurrentLinkedQueue<>();
        permit.onLost(reasons::add);
        Bench.await("it is lost", () -> reasons.contains(LossReason.MAX_HOLD_REACHED));
        assertThat(permit.isValid()).isFalse();
        assertThatThrownBy(permit::close).isInstanceOf(LockLostException.class);
        permit.close();
        bench().awaitWaiters(NAME, 0);
        rivals(1).acquire().close();
    }

    @Test
    @Requires({Capability.LIMITS, Capability.BREAK_CONNECTION})
    void theCrashOfAHolderFreesItsPermitsAfterTheTtl() throws Exception {
        LockClient cutOff = openShortLived("cut off");
        Permit lost = cutOff.semaphore(NAME, 2).acquire(2);
        int slot = lost.slot();
        Queue<LossReason> reasons = new ConcurrentLinkedQueue<>();
        lost.onLost(reasons::add);
        fixture().breakConnection(cutOff);
        Optional<Permit> next = rivals(2).tryAcquire(2, shortTtl().plusSeconds(5));
        assertThat(lost.isValid()).isFalse();
        assertThat(next).isPresent();
        assertThat(next.get().slots()).contains(slot);
        assertThat(next.get().token()).isGreaterThan(lost.token());
        Bench.await("the loss is signalled", () -> reasons.size() == 1);
        fixture().healConnection(cutOff);
        assertThatThrownBy(lost::close).isInstanceOf(LockLostException.class);
        assertThat(next.get().isValid()).isTrue();
        assertThat(rivals(2).tryAcquire()).isEmpty();
        next.get().close();
    }

    @Test
    @Requires(Capability.LIMITS)
    void aPermitThatIsReleasedByForceIsLost() throws Exception {
        Permit permit = openShortLived("holder").semaphore(NAME, 2).acquire();
        assertThat(rival().forceRelease(NAME, permit.token())).isTrue();
        Bench.await("it is lost", () -> !permit.isValid());
        assertThatThrownBy(permit::ensureValid).isInstanceOf(LockLostException.class);
        assertThatThrownBy(permit::close).isInstanceOf(LockLostException.class);
        assertThat(semaphore(2).availablePermits()).isEqualTo(2);
    }

    @Test
    @Requires({Capability.LIMITS, Capability.BREAK_CONNECTION})
    void anUnreachableEngineIsAnExceptionAndNotARefusal() throws Exception {
        LockClient cutOff = openGivingUpSoon(builder -> builder.requestTimeout(shortRequestTimeout()));
        DistributedSemaphore away = cutOff.semaphore(NAME, 1);
        fixture().breakConnection(cutOff);
        assertThatThrownBy(away::acquire).isInstanceOf(LockUnavailableException.class);
        assertThatThrownBy(away::tryAcquire).isInstanceOf(LockUnavailableException.class);
        assertThatThrownBy(() -> away.tryAcquire(Duration.ofMillis(100))).isInstanceOf(LockUnavailableException.class);
        assertThatThrownBy(() -> away.acquireAsync().get()).hasCauseInstanceOf(LockUnavailableException.class);
        assertThatThrownBy(away::availablePermits).isInstanceOf(LockUnavailableException.class);
        fixture().healConnection(cutOff);
        Bench.await("it works again", () -> {
            try {
                away.acquire().close();
                return true;
            } catch (LockUnavailableException e) {
                return false;
            }
        });
    }

    @Test
    @Requires(Capability.LIMITS)
    void closingTheClientReleasesItsPermitsAndEndsItsCalls() throws Exception {
        LockClient closed = open(builder -> builder.clientName("closed"));
        Permit permit = closed.semaphore(NAME, 1).acquire();
        Queue<LossReason> reasons = new ConcurrentLinkedQueue<>();
        permit.onLost(reasons::add);
        CompletableFuture<Permit> waiting = closed.semaphore(NAME, 1).acquireAsync();
        bench().awaitWaiters(NAME, 1);
        closed.close();
        assertThat(permit.isValid()).isFalse();
        assertThatThrownBy(waiting::get).hasCauseInstanceOf(LockUnavailableException.class);
        Bench.await("the loss is signalled", () -> List.copyOf(reasons).equals(List.of(LossReason.CLIENT_CLOSED)));
        rivals(1).tryAcquire(Duration.ofSeconds(5)).orElseThrow().close();
        assertThatThrownBy(() -> closed.semaphore(NAME, 1)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    @Requires(Capability.LIMITS)
    void operatorsSeePermitsAndTheirNumber() throws Exception {
        try (Permit one = semaphore(5).acquire();
                Permit more = rivals(5).acquire(3)) {
            LockInfo info = client().inspect(NAME);
            assertThat(info.limit()).hasValue(5);
            assertThat(info.holders()).hasSize(2);
            assertThat(info.holders().stream().mapToInt(LockInfo.Entry::permits).sum())
                    .isEqualTo(4);
            assertThat(client().snapshot().holds()).hasSize(1);
            assertThat(one.isValid() && more.isValid()).isTrue();
        }
    }
}
