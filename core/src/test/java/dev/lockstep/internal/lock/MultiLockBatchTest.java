package dev.lockstep.internal.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockLostException;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.LossReason;
import dev.lockstep.internal.ScriptedBackend;
import dev.lockstep.internal.ScriptedBackend.ScriptedClaim;
import dev.lockstep.internal.TurnstileFixture;
import dev.lockstep.internal.client.Client;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Several locks of an engine that takes them at once. */
class MultiLockBatchTest {
    private final TurnstileFixture fixture = new TurnstileFixture();
    private final ScriptedBackend engine = fixture.engine;
    private final Client client = fixture.open(List.of());
    private final DistributedLock four = client.multiLock("d", "b", "a", "c");

    @BeforeEach
    void takesBatches() {
        engine.batchSize = 3;
        engine.answersAtOnce = true;
    }

    private List<Integer> releases() {
        return engine.grants.stream().map(grant -> grant.releases).toList();
    }

    private List<String> claimed() {
        return engine.claims.stream().map(claim -> claim.request.name()).toList();
    }

    @Test
    void requestsAreMadeForSeveralLocksAtOnce() throws Exception {
        four.lock();
        assertThat(engine.claimBatches).containsExactly(List.of("a", "b", "c"));
        assertThat(claimed()).containsExactly("a", "b", "c", "d");
        four.lock(); // again, which asks nobody
        four.unlock();
        assertThat(engine.releaseBatches).isEmpty();
        four.unlock();
        assertThat(engine.releaseBatches).containsExactly(3, 1);
        assertThat(releases()).containsExactly(1, 1, 1, 1);
        try (Lease lease = four.acquire()) {
            assertThat(lease.token("c")).isGreaterThan(lease.token("b"));
        }
        assertThat(four.isHeldByCurrentThread()).isFalse();
        assertThat(engine.releaseBatches).containsExactly(3, 1, 3, 1);
    }

    @Test
    void noneIsHeldIfOneIsBusy() throws Exception {
        engine.busyNames.add("b");
        assertThat(four.tryLock()).isFalse();
        assertThat(claimed()).startsWith("a", "b", "c").endsWith("b").doesNotContain("d");
        assertThat(four.tryAcquire()).isEmpty();
        assertThat(TurnstileFixture.get(four.tryAcquireAsync(Duration.ZERO))).isEmpty();
        assertThat(releases()).containsOnly(1);
        assertThat(client.lock("a").holdCount() + client.lock("c").holdCount()).isZero();
    }

    @Test
    void nothingBehindALockIsHeldWhileTheCallWaitsForIt() {
        engine.busyNames.add("b");
        CompletableFuture<Lease> waiting = four.acquireAsync();
        assertThat(waiting).isNotDone();
        assertThat(claimed()).containsExactly("a", "b", "c", "b");
        assertThat(releases()).containsExactly(0, 1); // what was granted behind it went back
        engine.claim(3).grant();
        assertThat(TurnstileFixture.get(waiting).isValid()).isTrue();
        assertThat(engine.claimBatches).containsExactly(List.of("a", "b", "c"), List.of("c", "d"));
    }

    @Test
    void lateGrantsAreKeptInOrder() {
        engine.answersAtOnce = false;
        CompletableFuture<Lease> waiting = four.acquireAsync();
        engine.claim(2).grant();
        engine.claim(1).grant();
        assertThat(waiting).isNotDone();
        engine.claim(0).grant();
        engine.claim(3).grant();
        TurnstileFixture.get(waiting);
        assertThat(releases()).containsExactly(0, 0, 0, 0);
    }

    @Test
    void aCancelledCallLeavesNothing() {
        engine.answersAtOnce = false;
        CompletableFuture<Lease> waiting = four.acquireAsync();
        engine.claim(1).grant();
        waiting.cancel(false);
        assertThat(engine.claims.stream().map(claim -> claim.withdrawals)).containsExactly(1, 0, 1);
        assertThat(releases()).containsExactly(1); // without waiting for the others
        engine.claims.forEach(claim -> claim.withdrawn.complete(null));
        engine.grant(0).released.complete(true);
        assertThat(client.snapshot().holds()).isEmpty();
    }

    @Test
    void silenceEndsTheCallAndLeavesNothing() {
        engine.answersAtOnce = false;
        engine.reachable = false;
        CompletableFuture<Lease> waiting = four.acquireAsync();
        engine.claim(0).grant();
        fixture.time.advance(TurnstileFixture.REQUEST_TIMEOUT);
        assertThat(engine.claim(1).withdrawals).isEqualTo(1);
        assertThat(engine.claim(2).withdrawals).isEqualTo(1);
        assertThat(engine.grant(0).releases).isEqualTo(1);
        engine.grant(0).released.complete(true);
        assertThatExceptionOfType(CompletionException.class)
                .isThrownBy(waiting::join)
                .withCauseInstanceOf(LockUnavailableException.class);
    }

    @Test
    void aLockThatIsUsedHereIsTakenAlone() {
        client.lock("b").lock();
        four.lock();
        assertThat(engine.claimBatches).containsExactly(List.of("a"), List.of("c", "d"));
        assertThat(four.holdCount()).isEqualTo(1);
        four.unlock();
        assertThat(client.lock("b").holdCount()).isEqualTo(1);
        client.lock("b").unlock();
        assertThat(releases()).containsOnly(1);
    }

    @Test
    void othersQueueBehindABatchOnItsWay() {
        engine.answersAtOnce = false;
        CompletableFuture<Lease> waiting = four.acquireAsync();
        CompletableFuture<Lease> single = client.lock("b").acquireAsync();
        assertThat(claimed()).containsExactly("a", "b", "c", "b");
        for (int i = 0; i < 3; i++) {
            engine.claim(i).grant();
        }
        engine.claim(4).grant();
        assertThat(single).isNotDone();
        engine.answersAtOnce = true;
        TurnstileFixture.get(waiting).closeAsync();
        assertThat(single).isDone();
    }

    @Test
    void aFailureOfTheEngineIsReported() {
        engine.refuses = true;
        assertThatExceptionOfType(RuntimeException.class).isThrownBy(four::tryLock);
        engine.refuses = false;
        assertThat(four.tryLock()).isTrue();
        four.unlock();
    }

    @Test
    void aClosedClientEndsABatchOnItsWay() {
        engine.answersAtOnce = false;
        CompletableFuture<Optional<Lease>> waiting = four.tryAcquireAsync(Duration.ofSeconds(10));
        engine.claim(0).grant();
        engine.answersAtOnce = true;
        client.close();
        assertThat(waiting).isCompletedExceptionally();
        assertThat(engine.claims.stream().map(claim -> claim.withdrawals)).containsExactly(0, 1, 1);
        assertThat(releases()).containsExactly(1);
    }

    @Test
    void anInterruptLeavesNothing() throws Exception {
        engine.answersAtOnce = false;
        AtomicReference<Throwable> end = new AtomicReference<>();
        Thread thread = new Thread(() -> {
            try {
                four.lockInterruptibly();
            } catch (InterruptedException e) {
                end.set(e);
            }
        });
        engine.meanwhile = () -> {
            if (engine.claims.size() == 3) {
                engine.claim(0).grant();
                engine.answersAtOnce = true;
                thread.interrupt();
            }
        };
        thread.start();
        thread.join(20_000);
        assertThat(end.get()).isInstanceOf(InterruptedException.class);
        assertThat(engine.claims.stream().map(claim -> claim.withdrawals)).containsExactly(0, 1, 1);
        assertThat(releases()).containsExactly(1);
    }

    /** A thread's call continues while answers come from another thread. */
    @Test
    void answersMayComeFromAnotherThread() throws Exception {
        engine.answersAtOnce = false;
        engine.batchSize = 10;
        Thread thread = new Thread(() -> {
            four.lock();
            four.unlock();
        });
        AtomicReference<List<ScriptedClaim>> asked = new AtomicReference<>();
        engine.meanwhile = () -> {
            if (engine.claims.size() == 4) {
                asked.set(List.copyOf(engine.claims));
            }
        };
        thread.start();
        while (asked.get() == null) {
            LockSupport.parkNanos(1_000_000);
        }
        engine.answersAtOnce = true;
        asked.get().forEach(ScriptedClaim::grant);
        thread.join(20_000);
        assertThat(thread.isAlive()).isFalse();
        assertThat(releases()).containsExactly(1, 1, 1, 1);
    }

    @Test
    void theLossOfOneIsReportedAndTheOthersAreReleased() throws Exception {
        Lease lease = four.acquire();
        engine.grant(1).signalLost(LossReason.REVOKED);
        assertThat(lease.isValid()).isFalse();
        assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::close);
        assertThat(releases()).containsOnly(1);
        lease.close();
    }

    @Test
    void releasesThatAreNotConfirmedAreReportedOnce() throws Exception {
        Lease lease = TurnstileFixture.get(four.acquireAsync());
        engine.answersAtOnce = false;
        CompletableFuture<Void> closing = lease.closeAsync();
        engine.grant(0).released.complete(true);
        assertThat(closing).isNotDone();
        fixture.time.advance(TurnstileFixture.REQUEST_TIMEOUT);
        assertThat(closing).isCompletedExceptionally();
        assertThat(releases()).containsOnly(1);
    }
}
