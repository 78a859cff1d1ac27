package dev.lockstep.internal.turnstile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockMode;
import dev.lockstep.LockOptions;
import dev.lockstep.internal.ScriptedBackend;
import dev.lockstep.internal.TurnstileFixture;
import dev.lockstep.internal.client.Client;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A call that gives up returns when nothing of it is left at the engine, and a short wait has an answer. */
class GivingUpTest {
    private static final Duration WAIT = Duration.ofSeconds(1);

    private final TurnstileFixture fixture = new TurnstileFixture();
    private final ScriptedBackend engine = fixture.engine;
    private final Client client = fixture.open(List.of());
    private final DistributedLock lock = client.lock("a");

    private SimThread thread(LockOptions options) {
        return new SimThread(client, "a", LockMode.EXCLUSIVE, options, WAIT.toNanos());
    }

    private void timeIsUp() {
        engine.contact();
        fixture.time.advance(WAIT);
    }

    @Test
    void aThreadThatTimedOutReturnsWhenItsClaimIsWithdrawn() {
        SimThread thread = thread(LockOptions.defaults());
        timeIsUp();
        assertThat(thread.look()).isFalse();
        engine.claim(0).withdrawn.complete(null);
        assertThat(thread.look()).isTrue();
        assertThat(thread.lease()).isNull();
        assertThat(thread.error()).isNull();
    }

    @Test
    void theTimerOfACallThatGaveUpEndsWithIt() {
        SimThread thread = thread(LockOptions.defaults());
        timeIsUp();
        int before = fixture.time.pending();
        assertThat(thread.look()).isFalse();
        assertThat(fixture.time.pending()).isEqualTo(before + 1);
        engine.claim(0).withdrawn.complete(null);
        assertThat(thread.look()).isTrue();
        assertThat(fixture.time.pending()).isEqualTo(before);
    }

    @Test
    void aFairThreadThatTimedOutReturnsWhenItsOwnClaimIsWithdrawn() {
        SimThread thread = thread(LockOptions.defaults().fair());
        thread(LockOptions.defaults().fair());
        timeIsUp();
        assertThat(thread.look()).isFalse();
        engine.claim(0).withdrawn.complete(null);
        assertThat(thread.look()).isTrue();
    }

    @Test
    void anInterruptedThreadReturnsWhenItsClaimIsWithdrawn() {
        SimThread thread = thread(LockOptions.defaults());
        assertThat(thread.interrupt()).isTrue();
        assertThat(thread.look()).isFalse();
        engine.claim(0).withdrawn.complete(null);
        assertThat(thread.look()).isTrue();
        assertThat(thread.gaveUp()).isTrue();
    }

    @Test
    void anAsynchronousCallThatTimedOutEndsWhenItsClaimIsWithdrawn() {
        CompletableFuture<Optional<Lease>> call = lock.tryAcquireAsync(WAIT);
        timeIsUp();
        assertThat(call).isNotDone();
        assertThat(engine.claim(0).withdrawals).isEqualTo(1);
        engine.claim(0).withdrawn.complete(null);
        assertThat(TurnstileFixture.get(call)).isEmpty();
    }

    @Test
    void aClaimThatAnotherCallInheritsIsNotWaitedFor() {
        CompletableFuture<Optional<Lease>> call = lock.tryAcquireAsync(WAIT);
        lock.acquireAsync();
        timeIsUp();
        assertThat(TurnstileFixture.get(call)).isEmpty();
        assertThat(engine.claim(0).withdrawals).isZero();
    }

    @Test
    void aGrantThatWasOfferedToTheCallIsReleasedFirst() {
        CompletableFuture<Lease> holding = lock.acquireAsync();
        engine.claim(0).grant();
        SimThread thread = thread(LockOptions.defaults());
        TurnstileFixture.get(holding).closeAsync();
        assertThat(thread.interruptUnseen()).isTrue();
        assertThat(engine.grant(0).releases).isEqualTo(1);
        assertThat(thread.look()).isFalse();
        engine.grant(0).released.complete(true);
        assertThat(thread.look()).isTrue();
    }

    @Test
    void aSilentEngineIsWaitedForNoLongerThanTheRequestTimeout() {
        SimThread thread = thread(LockOptions.defaults());
        timeIsUp();
        assertThat(thread.look()).isFalse();
        fixture.time.advance(TurnstileFixture.REQUEST_TIMEOUT.minusNanos(1));
        assertThat(thread.look()).isFalse();
        fixture.time.advance(Duration.ofNanos(1));
        assertThat(thread.look()).isTrue();
        assertThat(thread.error()).isNull();
    }

    @Test
    void anEngineThatHasOwedAnAnswerForLongIsNotWaitedFor() {
        Duration wait = TurnstileFixture.REQUEST_TIMEOUT.multipliedBy(2);
        CompletableFuture<Optional<Lease>> call = lock.tryAcquireAsync(wait);
        engine.contact();
        engine.reachable = false;
        fixture.time.advance(wait.minusNanos(1));
        assertThat(call).isNotDone();
        fixture.time.advance(Duration.ofNanos(1));
        assertThat(call).isDone();
        assertThat(engine.claim(0).withdrawals).isEqualTo(1);
    }

    /** It was asked nothing for a while, which is no silence. */
    @Test
    void aSlowEngineIsWaitedForHoweverLongAgoItsLastAnswerWas() {
        Duration wait = TurnstileFixture.REQUEST_TIMEOUT.dividedBy(2).minusNanos(1);
        CompletableFuture<Optional<Lease>> call = lock.tryAcquireAsync(wait);
        engine.contact();
        fixture.time.advance(wait);
        fixture.time.advance(TurnstileFixture.REQUEST_TIMEOUT.minusNanos(1));
        assertThat(call).isNotDone();
        fixture.time.advance(Duration.ofNanos(1));
        assertThat(call).isDone();
    }

    @Test
    void aCallWithoutADeadlineEndsOneRequestTimeoutAfterTheLastAnswer() {
        CompletableFuture<Lease> call = lock.acquireAsync();
        fixture.time.advance(Duration.ofMillis(777));
        engine.contact();
        engine.reachable = false;
        fixture.time.advance(Duration.ofMillis(555));
        CompletableFuture<Lease> later = client.lock("b").acquireAsync();
        fixture.time.advance(TurnstileFixture.REQUEST_TIMEOUT.minusMillis(555).minusNanos(1));
        assertThat(call).isNotDone();
        fixture.time.advance(Duration.ofNanos(1));
        assertThat(call).isCompletedExceptionally();
        fixture.time.advance(Duration.ofMillis(555).minusNanos(1));
        assertThat(later).isNotDone();
        fixture.time.advance(Duration.ofNanos(1));
        assertThat(later).isCompletedExceptionally();
    }

    @Test
    void aCallBehindReadersHereOutlastsAClaimThatIsBeingWithdrawn() {
        CompletableFuture<Lease> reading = client.readWriteLock("a").readLock().acquireAsync();
        engine.claim(0).grant();
        CompletableFuture<Optional<Lease>> call = lock.tryAcquireAsync(WAIT);
        timeIsUp();
        assertThat(call).isNotDone();
        CompletableFuture<Lease> next = lock.acquireAsync();
        for (int second = 0; second < 2 * TurnstileFixture.REQUEST_TIMEOUT.toSeconds(); second++) {
            engine.contact();
            fixture.time.advance(WAIT);
        }
        assertThat(reading.join().isValid()).isTrue();
        assertThat(next).isNotDone();
    }

    @Test
    void aClosedClientIsNotWaitedFor() {
        CompletableFuture<Optional<Lease>> call = lock.tryAcquireAsync(WAIT);
        timeIsUp();
        client.context().turnstile("a").close();
        assertThat(TurnstileFixture.get(call)).isEmpty();
    }

    @Test
    void aWaitThatIsShorterThanARoundTripHasTheEnginesAnswer() {
        fixture.time.advance(Duration.ofMillis(1));
        CompletableFuture<Optional<Lease>> free = lock.tryAcquireAsync(Duration.ofMillis(1));
        fixture.time.advance(Duration.ofMillis(20));
        assertThat(free).isNotDone();
        engine.claim(0).grant();
        assertThat(TurnstileFixture.get(free)).isPresent();
    }

    @Test
    void aShortWaitBehindAReleaseHasTheEnginesAnswer() {
        CompletableFuture<Lease> holding = lock.acquireAsync();
        engine.claim(0).grant();
        TurnstileFixture.get(holding).closeAsync();
        fixture.time.advance(Duration.ofMillis(1));
        CompletableFuture<Optional<Lease>> next = lock.tryAcquireAsync(Duration.ofMillis(1));
        fixture.time.advance(Duration.ofMillis(20));
        assertThat(next).isNotDone();
        engine.grant(0).released.complete(true);
        engine.claim(1).grant();
        assertThat(TurnstileFixture.get(next)).isPresent();
    }

    @Test
    void aShortWaitForALockThatIsHeldIsRefusedAfterTheFirstAnswer() {
        fixture.time.advance(Duration.ofMillis(1));
        CompletableFuture<Optional<Lease>> held = lock.tryAcquireAsync(Duration.ofMillis(1));
        fixture.time.advance(Duration.ofMillis(20));
        assertThat(held).isNotDone();
        engine.contact();
        fixture.time.advance(Duration.ofMillis(25)); // as long again as the answer took
        engine.claim(0).withdrawn.complete(null);
        assertThat(TurnstileFixture.get(held)).isEmpty();
    }

    /** A backend notes that the engine has answered before it passes the answer on. */
    @Test
    void aShortWaitDoesNotEndBetweenTheContactAndTheGrant() {
        engine.answersOthers = true;
        fixture.time.advance(Duration.ofMillis(1));
        CompletableFuture<Optional<Lease>> free = lock.tryAcquireAsync(Duration.ofMillis(1));
        fixture.time.advance(Duration.ofMillis(20));
        engine.contact();
        fixture.time.advance(Duration.ofMillis(1));
        engine.claim(0).grant();
        assertThat(TurnstileFixture.get(free)).isPresent();
    }
}
