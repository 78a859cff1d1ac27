package dev.lockstep.internal.fallback;

import static dev.lockstep.internal.fallback.FallbackFixture.AFTER;
import static dev.lockstep.internal.fallback.FallbackFixture.REQUEST_TIMEOUT;
import static dev.lockstep.internal.fallback.FallbackFixture.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.Lease;
import dev.lockstep.LockLostException;
import dev.lockstep.LockOptions;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.LossReason;
import dev.lockstep.ReleaseNotConfirmedException;
import dev.lockstep.internal.ScriptedBackend;
import dev.lockstep.spi.Outcome;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** The way into the fallback, and what calls see of it. */
class FallbackEntryTest {
    private static final Duration ALMOST = AFTER.minusMillis(1);

    private final FallbackFixture bench = new FallbackFixture();
    private final ScriptedBackend primary = bench.primary;
    private final ScriptedBackend fallback = bench.fallback;

    @Nested
    class WhenItBegins {
        @Test
        void anEngineThatAnswersIsNotFallenBackFrom() {
            CompletableFuture<Lease> waiting = bench.lock.acquireAsync();
            bench.time.advance(AFTER.multipliedBy(20));
            assertThat(waiting).isNotDone();
            primary.claim(0).grant();
            assertThat(get(waiting).isFallback()).isFalse();
            assertThat(get(waiting).token()).isPositive();
            assertThat(fallback.claims).isEmpty();
            assertThat(bench.events).isEmpty();
        }

        @Test
        void aCallThatWaitsGoesToTheFallbackInTime() {
            primary.reachable = false;
            CompletableFuture<Lease> waiting = bench.lock.acquireAsync();
            bench.time.advance(ALMOST);
            assertThat(fallback.claims).isEmpty();
            bench.time.advance(Duration.ofMillis(1));
            fallback.claim(0).grant();
            assertThat(get(waiting).isFallback()).isTrue();
            assertThat(get(waiting).isValid()).isTrue();
            assertThat(bench.events).containsExactly("unreachable", "entered after 10");
        }

        @Test
        void aShortOutageIsTolerated() {
            primary.reachable = false;
            CompletableFuture<Lease> waiting = bench.lock.acquireAsync();
            bench.time.advance(ALMOST);
            primary.reachable = true;
            primary.claim(0).grant();
            assertThat(get(waiting).isFallback()).isFalse();
            bench.time.advance(AFTER.multipliedBy(2));
            assertThat(fallback.claims).isEmpty();
            assertThat(bench.events).doesNotContain("entered after 10");
        }

        @Test
        void theSilenceOfAnUnusedEngineDoesNotCount() {
            primary.reachable = false;
            bench.time.advance(AFTER.multipliedBy(10));
            bench.lock.acquireAsync();
            bench.time.advance(ALMOST);
            assertThat(fallback.claims).isEmpty();
            bench.time.advance(Duration.ofMillis(1));
            assertThat(fallback.claims).hasSize(1);
        }

        @Test
        void aPauseOfTheProcessIsNotASilenceOfTheEngine() {
            bench.lock.acquireAsync();
            primary.reachable = false; // its answer has not been read yet when the process continues
            bench.time.pause(AFTER.multipliedBy(3));
            assertThat(fallback.claims).isEmpty();
            primary.reachable = true;
            bench.time.advance(AFTER.multipliedBy(2));
            assertThat(fallback.claims).isEmpty();
        }

        @Test
        void callsThatHaveGivenUpBringItAboutToo() {
            primary.reachable = false;
            bench.time.advance(Duration.ofSeconds(1));
            CompletableFuture<Optional<Lease>> first = bench.lock.tryAcquireAsync(Duration.ofSeconds(1));
            bench.time.advance(REQUEST_TIMEOUT);
            assertThat(first).isCompletedExceptionally();
            bench.time.advance(AFTER.minus(REQUEST_TIMEOUT));
            CompletableFuture<Optional<Lease>> second = bench.lock.tryAcquireAsync(Duration.ofSeconds(1));
            fallback.claim(0).grant();
            assertThat(get(second)).isPresent();
        }

        @Test
        void nothingIsTimedWhileNothingIsAsked() {
            primary.answersAtOnce = true;
            int idle = bench.time.pending();
            bench.lock.lock();
            bench.lock.unlock();
            bench.time.advance(AFTER.multipliedBy(10));
            assertThat(bench.time.pending()).isEqualTo(idle);
        }
    }

    @Nested
    class WhatMoves {
        @Test
        void waitingClaimsAreWithdrawnFromTheEngineInTheirOrder() {
            LockOptions fair = LockOptions.defaults().fair();
            primary.reachable = false;
            bench.client.lock("f", fair).acquireAsync();
            bench.client.lock("f", fair).acquireAsync();
            bench.time.advance(AFTER);
            assertThat(primary.claims).allMatch(claim -> claim.withdrawals == 1);
            assertThat(fallback.claims)
                    .extracting(claim -> claim.request.claimId())
                    .containsExactly(
                            primary.claim(0).request.claimId() + "-2",
                            primary.claim(1).request.claimId() + "-2");
        }

        @Test
        void theClaimIsMadeAgain() {
            bench.enterWaiting();
            assertThat(fallback.claim(0).request.sentNanos()).isEqualTo(bench.time.nanoTime());
            assertThat(fallback.claim(0).request.blockAtMost()).isZero();
            assertThat(fallback.claim(0).request.name()).isEqualTo("a");
        }

        @Test
        void aGrantOfTheEngineThatComesTooLateIsLeftToTheWithdrawal() {
            CompletableFuture<Lease> waiting = bench.enterWaiting();
            primary.claim(0).grant();
            assertThat(waiting).isNotDone();
            assertThat(primary.claim(0).withdrawals).isEqualTo(1);
            primary.grant(0).signalLost(LossReason.EXPIRED);
            fallback.claim(0).grant();
            assertThat(get(waiting).isFallback()).isTrue();
            assertThat(get(waiting).isValid()).isTrue();
        }

        @Test
        void aFailureOfTheEngineThatComesTooLateIsNotReported() {
            CompletableFuture<Lease> waiting = bench.enterWaiting();
            primary.claim(0).outcome.completeExceptionally(new IllegalStateException("away"));
            fallback.claim(0).grant();
            assertThat(get(waiting).isValid()).isTrue();
        }

        @Test
        void aCallThatMayNotWaitIsAnsweredByTheFallback() {
            bench.enterHolding();
            CompletableFuture<Optional<Lease>> other = bench.client.lock("b").tryAcquireAsync(Duration.ZERO);
            fallback.claim(1).busy();
            assertThat(get(other)).isEmpty();
        }

        @Test
        void aCallThatGivesUpLeavesNothingAtTheFallback() {
            CompletableFuture<Lease> waiting = bench.enterWaiting();
            waiting.cancel(true);
            assertThat(fallback.claim(0).withdrawals).isEqualTo(1);
            assertThat(primary.claim(0).withdrawals).isEqualTo(1);
        }

        @Test
        void waitersFailWhenTheFallbackDoesNotAnswerEither() {
            fallback.reachable = false;
            CompletableFuture<Lease> waiting = bench.enterWaiting();
            bench.time.advance(REQUEST_TIMEOUT.multipliedBy(2));
            assertThatThrownBy(waiting::join).hasCauseInstanceOf(LockUnavailableException.class);
        }

        @Test
        void waitersAreServedHoweverLongItTakes() {
            CompletableFuture<Lease> waiting = bench.enterWaiting();
            bench.time.advance(AFTER.multipliedBy(20));
            fallback.claim(0).grant();
            assertThat(get(waiting).isValid()).isTrue();
        }
    }

    @Nested
    class HoldsFromBefore {
        private final CompletableFuture<Lease> before = bench.lock.acquireAsync();

        private void heldThenAway() {
            primary.claim(0).grant();
            primary.reachable = false;
            bench.client.lock("other").acquireAsync();
            bench.time.advance(AFTER);
        }

        @Test
        void keepTheirTokenAndTheirDeadline() {
            heldThenAway();
            assertThat(get(before).isFallback()).isFalse();
            assertThat(get(before).token()).isPositive();
            bench.time.advance(ScriptedBackend.VALIDITY.minus(AFTER).minusMillis(1));
            assertThat(get(before).isValid()).isTrue();
            bench.time.advance(Duration.ofMillis(1));
            assertThat(get(before).isValid()).isFalse();
            assertThatThrownBy(get(before)::close).isInstanceOf(LockLostException.class);
        }

        @Test
        void keepTheirLockFromBeingTakenInFallback() {
            primary.claim(0).grant();
            get(before).closeAsync();
            primary.grant(0).released.complete(true);
            LockOptions fair = LockOptions.defaults().fair();
            CompletableFuture<Lease> held = bench.client.lock("a", fair).acquireAsync();
            primary.claim(1).grant();
            primary.reachable = false;
            CompletableFuture<Lease> next = bench.client.lock("a", fair).acquireAsync();
            bench.time.advance(AFTER);
            assertThat(fallback.claims).isEmpty();
            CompletableFuture<Optional<Lease>> tried =
                    bench.client.lock("a", fair).tryAcquireAsync(Duration.ZERO);
            assertThat(get(tried)).isEmpty();
            get(held).closeAsync();
            fallback.claim(0).grant();
            assertThat(get(next).isFallback()).isTrue();
        }

        @Test
        void areReleasedWithoutWaitingForTheEngine() {
            heldThenAway();
            CompletableFuture<Void> closed = get(before).closeAsync();
            assertThatThrownBy(closed::join).hasCauseInstanceOf(ReleaseNotConfirmedException.class);
            assertThat(primary.grant(0).releases).isEqualTo(1);
            CompletableFuture<Lease> next = bench.lock.acquireAsync();
            assertThat(fallback.claims).hasSize(2);
            fallback.claim(1).grant();
            assertThat(get(next).isFallback()).isTrue();
        }

        @Test
        void letTheNextInWhenTheirReleaseWasUnderWay() {
            primary.claim(0).grant();
            primary.reachable = false;
            get(before).closeAsync();
            CompletableFuture<Lease> next = bench.lock.acquireAsync();
            assertThat(primary.claims).hasSize(1);
            bench.time.advance(AFTER);
            fallback.claim(0).grant();
            assertThat(get(next).isFallback()).isTrue();
            assertThat(primary.claims).hasSize(1);
        }

        @Test
        void reportTheirLossOnce() {
            heldThenAway();
            primary.grant(0).signalLost(LossReason.SESSION_ENDED);
            assertThat(get(before).isValid()).isFalse();
            CompletableFuture<Lease> next = bench.lock.acquireAsync();
            fallback.claim(1).grant();
            assertThat(get(next).isValid()).isTrue();
            assertThat(primary.grant(0).releases).isEqualTo(1);
        }
    }

    @Test
    void anEngineThatRefusesAClaimCanBeAskedAgain() {
        primary.refuses = true;
        assertThat(bench.lock.acquireAsync()).isCompletedExceptionally();
        primary.refuses = false;
        CompletableFuture<Lease> next = bench.lock.acquireAsync();
        assertThat(primary.claims).hasSize(1);
        primary.claim(0).grant();
        assertThat(get(next).isFallback()).isFalse();
    }

    @Test
    void aGrantThatCameAtTheLastMomentIsTheAnswer() {
        primary.reachable = false;
        CompletableFuture<Lease> waiting = bench.lock.acquireAsync();
        bench.client.lock("other").acquireAsync();
        // Granted, but with an answer to something sent long ago: the engine still counts as silent.
        long contact = primary.contact;
        primary.claim(0).grant();
        primary.contact = contact;
        bench.time.advance(AFTER);
        assertThat(get(waiting).isFallback()).isFalse();
        assertThat(primary.claim(0).outcome.join()).isInstanceOf(Outcome.Granted.class);
        assertThat(fallback.claims).hasSize(1);
        assertThat(fallback.claim(0).request.name()).isEqualTo("other");
    }
}
