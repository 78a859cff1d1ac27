package dev.lockstep.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockLostException;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.LossReason;
import dev.lockstep.ReleaseNotConfirmedException;
import java.time.Duration;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Events at the engine that affect a client: it ends the session, restarts, answers late, or is not heard. */
abstract class SessionContract extends ContractGroup {
    SessionContract(LockContract contract) {
        super(contract);
    }

    @Test
    @Requires(Capability.EXPIRE_SESSION)
    void aHolderWhoseSessionEndsLosesTheLock() throws Exception {
        LockClient expired = openShortLived("expired");
        Queue<LossReason> reasons = new ConcurrentLinkedQueue<>();
        Lease lease = expired.lock(NAME).acquire();
        long token = lease.token();
        lease.onLost(reasons::add);
        fixture().expireSession(expired);
        try (Lease next = rivalLock().acquire()) {
            assertThat(next.token()).isGreaterThan(token);
            // The engine may have granted it in the moment of the loss; the holder learns of it soon.
            Bench.await("the holder knows", () -> !lease.isValid());
            Bench.await("the loss is reported", () -> reasons.size() == 1);
            assertThatThrownBy(lease::close).isInstanceOf(LockLostException.class);
            assertThat(bench().isFree(NAME)).isFalse();
        }
        assertThat(reasons).hasSize(1);
    }

    @Test
    @Requires(Capability.EXPIRE_SESSION)
    void aClientWhoseSessionEndedContinuesWithANewOne() throws Exception {
        LockClient expired = openRenewing("expired");
        DistributedLock lock = expired.lock(NAME);
        Lease lost = lock.acquire();
        fixture().expireSession(expired);
        Bench.await("the hold is lost", () -> !lost.isValid());
        assertThatThrownBy(lost::close).isInstanceOf(LockLostException.class);
        Lease lease = awaitLease(lock);
        Bench.letPass(longerThanRenewedTtl());
        assertThat(lease.isValid()).isTrue();
        assertThat(bench().isFree(NAME)).isFalse();
        lease.close();
    }

    @Test
    @Requires(Capability.EXPIRE_SESSION)
    void aWaiterWhoseSessionEndsIsServedAllTheSame() throws Exception {
        LockClient expired = openShortLived("expired");
        rivalLock().lock();
        Call<Boolean> waiting = actor("waiter")
                .starts(() -> expired.lock(NAME)
                        .tryAcquire(Duration.ofSeconds(60))
                        .orElseThrow()
                        .close());
        bench().awaitWaiters(NAME, 1);
        fixture().expireSession(expired);
        bench().awaitWaiters(NAME, 1);
        assertThat(waiting.isDone()).isFalse();
        rivalLock().unlock();
        waiting.get();
    }

    @Test
    @Requires(Capability.EXPIRE_SESSION)
    void aWaiterIsServedWhenTheHoldersSessionEnds() throws Exception {
        LockClient expired = openShortLived("expired");
        Lease lost = expired.lock(NAME).acquire();
        CompletableFuture<Lease> next = rivalLock().acquireAsync();
        bench().awaitWaiters(NAME, 1);
        fixture().expireSession(expired);
        next.get().close();
        Bench.await("the holder knows", () -> !lost.isValid());
        assertThatThrownBy(lost::close).isInstanceOf(LockLostException.class);
    }

    @Alone
    @Test
    @Requires(Capability.RESTART_SERVER)
    void afterARestartOfTheServerAHoldIsKeptOrReportedLost() throws Exception {
        LockClient client =
                open(builder -> builder.clientName("survivor").ttl(shortTtl().multipliedBy(4)));
        Lease before = client.lock(NAME).acquire();
        long token = before.token();
        fixture().restartServer();
        // Whatever the engine remembers, there is one holder: the old one, or the next after the old one's end.
        Call<Long> next = actor("next").start(() -> {
            try (Lease lease = awaitLease(rivalLock())) {
                assertThat(before.isValid()).isFalse();
                return lease.token();
            }
        });
        Bench.letPass(shortTtl());
        try {
            before.close();
        } catch (LockLostException | ReleaseNotConfirmedException e) {
            assertThat(before.isValid()).isFalse();
        }
        assertThat(next.get()).isGreaterThan(token);
    }

    @Alone
    @Test
    @Tag("full")
    @Requires(Capability.RESTART_SERVER)
    void aWaiterSurvivesARestartOfTheServer() throws Exception {
        Lease held = lock().acquireAsync().get();
        CompletableFuture<Optional<Lease>> waiting = rivalLock().tryAcquireAsync(Duration.ofSeconds(90));
        bench().awaitWaiters(NAME, 1);
        fixture().restartServer();
        try {
            held.close();
        } catch (LockLostException | ReleaseNotConfirmedException e) {
            assertThat(held.isValid()).isFalse();
        }
        waiting.get().orElseThrow().close();
    }

    @Test
    @Requires(Capability.SLOW_DOWN)
    void validityCountsFromTheSendingOfTheRequest() throws Exception {
        Duration delay = Duration.ofMillis(400);
        Duration ttl = shortTtl().multipliedBy(4).plus(delay); // nothing waits for it, and several answers are late
        LockClient slow = open(builder -> builder.clientName("slow").ttl(ttl));
        fixture().slowDown(slow, delay);
        try (Lease lease = slow.lock(NAME).acquire()) {
            assertThat(lease.remaining()).isPositive().isLessThanOrEqualTo(ttl.minus(delay));
            fixture().healConnection(slow);
        }
    }

    @Test
    @Requires(Capability.SLOW_DOWN)
    void aSlowEngineIsWaitedForNoLongerThanItsCallerCan() throws Exception {
        LockClient slow =
                openGivingUpSoon(builder -> builder.clientName("slow").requestTimeout(Duration.ofMillis(300)));
        fixture().slowDown(slow, Duration.ofSeconds(8));
        Duration waited = Bench.timed(
                () -> assertThatThrownBy(slow.lock(NAME)::tryLock).isInstanceOf(LockUnavailableException.class));
        assertThat(waited).isLessThan(Bench.AT_ONCE);
        fixture().healConnection(slow);
        // The request was not lost: the lock may have been taken for the caller, and is released.
        bench().awaitFree(NAME);
    }

    @Test
    @Requires(Capability.LOSE_REPLIES)
    void aLostAnswerToAClaimIsUnknownAndLeavesNothing() {
        LockClient deaf = openImpatient("deaf");
        fixture().loseReplies(deaf);
        assertThatThrownBy(() -> deaf.lock(NAME).tryAcquire(Duration.ofMillis(300)))
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining(NAME);
        assertThatThrownBy(deaf.lock(NAME)::tryLock).isInstanceOf(LockUnavailableException.class);
        assertThat(deaf.lock(NAME).holdCount()).isZero();
        fixture().healConnection(deaf);
        bench().awaitFree(NAME);
    }

    @Test
    @Requires(Capability.LOSE_REPLIES)
    void aClaimWhoseAnswerWasLostIsFoundAgain() throws Exception {
        LockClient deaf = openImpatient("deaf");
        fixture().loseReplies(deaf);
        Call<Boolean> waiting = actor("waiter")
                .starts(() -> deaf.lock(NAME)
                        .tryAcquire(Duration.ofSeconds(60))
                        .orElseThrow()
                        .close());
        Bench.letPass(shortRequestTimeout().plusMillis(200));
        fixture().healConnection(deaf);
        waiting.get();
        assertThat(bench().isFree(NAME)).isTrue();
    }

    /** The engine has granted the lock, and the client does not know it: its next request must not find the lock busy. */
    @Test
    @Requires(Capability.LOSE_REPLIES)
    void aTryWhoseAnswerWasLostIsNotBlockedByItself() throws Exception {
        LockClient deaf = open(builder -> builder.clientName("deaf").requestTimeout(Bench.PATIENCE));
        deaf.lock(NAME).lock(); // the engine knows the name and the requests from now on
        deaf.lock(NAME).unlock();
        fixture().loseReplies(deaf);
        Call<Boolean> trying = actor("trier").start(() -> {
            boolean taken = deaf.lock(NAME).tryLock();
            if (taken) {
                deaf.lock(NAME).unlock();
            }
            return taken;
        });
        // Some replies are lost meanwhile; on a busy machine perhaps none is, and the call just succeeds.
        Bench.letPass(Duration.ofMillis(500));
        fixture().healConnection(deaf);
        assertThat(trying.get()).isTrue();
    }

    @Test
    @Requires(Capability.LOSE_REPLIES)
    void aLostAnswerToAReleaseIsUnknownAndLeavesNothing() throws Exception {
        LockClient deaf = openImpatient("deaf");
        DistributedLock lock = deaf.lock(NAME);
        takePatiently(lock);
        fixture().loseReplies(deaf);
        assertThatThrownBy(lock::unlock).isInstanceOf(ReleaseNotConfirmedException.class);
        assertThat(lock.holdCount()).isZero();
        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
        rivalLock().lock();
        fixture().healConnection(deaf);
        // The release that continues in the background must not free its successor.
        Bench.letPass(Duration.ofMillis(300));
        assertThat(bench().isFree(NAME)).isFalse();
        rivalLock().unlock();
    }

    private static Lease awaitLease(DistributedLock lock) throws InterruptedException {
        long end = System.nanoTime() + Bench.PATIENCE.toNanos();
        while (true) {
            try {
                return lock.tryAcquire(Bench.PATIENCE).orElseThrow();
            } catch (LockUnavailableException e) {
                if (System.nanoTime() - end > 0) {
                    throw e;
                }
            }
        }
    }
}
