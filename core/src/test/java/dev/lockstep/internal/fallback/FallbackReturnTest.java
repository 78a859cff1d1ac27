package dev.lockstep.internal.fallback;

import static dev.lockstep.internal.fallback.FallbackFixture.AFTER;
import static dev.lockstep.internal.fallback.FallbackFixture.REQUEST_TIMEOUT;
import static dev.lockstep.internal.fallback.FallbackFixture.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.DistributedReadWriteLock;
import dev.lockstep.HolderInfo;
import dev.lockstep.Lease;
import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import dev.lockstep.LockOptions;
import dev.lockstep.LossReason;
import dev.lockstep.internal.ScriptedBackend;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Being in the fallback, and the way out. */
class FallbackReturnTest {
    private static final LockOptions FAIR = LockOptions.defaults().fair();

    private final FallbackFixture bench = new FallbackFixture();
    private final ScriptedBackend primary = bench.primary;
    private final ScriptedBackend fallback = bench.fallback;

    @Nested
    class AHoldTakenInFallback {
        @Test
        void hasNoTokenAndSaysWhy() {
            Lease lease = bench.enterHolding();
            assertThatThrownBy(lease::token)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("'a'")
                    .hasMessageContaining("fallback");
            assertThatThrownBy(() -> lease.token("a")).isInstanceOf(IllegalStateException.class);
            assertThat(lease.isValid()).isTrue();
        }

        @Test
        void isEndedByTheFallbackEngine() {
            Lease lease = bench.enterHolding();
            fallback.grant(0).signalLost(LossReason.REVOKED);
            assertThat(lease.isValid()).isFalse();
            assertThat(lease.isFallback()).isTrue();
        }

        @Test
        void isHandedOnAsSuch() {
            Lease lease = bench.enterHolding();
            CompletableFuture<Lease> next = bench.lock.acquireAsync();
            lease.closeAsync();
            assertThat(get(next).isFallback()).isTrue();
            assertThat(fallback.claims).hasSize(1);
        }

        @Test
        void makesAMultiLockOne() {
            bench.enterHolding();
            CompletableFuture<Lease> both = bench.client.multiLock("b", "c").acquireAsync();
            fallback.claim(1).grant();
            fallback.claim(2).grant();
            assertThat(get(both).isFallback()).isTrue();
            assertThatThrownBy(() -> get(both).token("b")).isInstanceOf(IllegalStateException.class);
        }

        @Test
        void isShownWithoutAToken() {
            bench.enterHolding();
            fallback.info = LockInfo.of(
                    "a",
                    List.of(LockInfo.Entry.of(
                                    LockMode.EXCLUSIVE,
                                    HolderInfo.of("client", "host", 1).withThread("thread"))
                            .withToken(7)),
                    List.of());
            assertThat(bench.client.inspect("a").holders())
                    .singleElement()
                    .satisfies(entry -> assertThat(entry.token()).isEmpty());
        }
    }

    @Nested
    class WhenTheEngineIsBack {
        @Test
        void anEmptyFallbackIsLeftAtOnce() {
            bench.enterHolding().closeAsync();
            fallback.grant(0).released.complete(true);
            bench.heal();
            bench.time.advance(REQUEST_TIMEOUT);
            assertThat(bench.events).containsExactly("unreachable", "entered after 10", "left after 5", "reachable");
            CompletableFuture<Lease> next = bench.lock.acquireAsync();
            primary.claim(1).grant();
            assertThat(get(next).isFallback()).isFalse();
            assertThat(get(next).token()).isPositive();
        }

        @Test
        void waitingClaimsGoBackToIt() {
            CompletableFuture<Lease> waiting = bench.enterWaiting();
            bench.heal();
            assertThat(fallback.claim(0).withdrawals).isEqualTo(1);
            assertThat(primary.claim(1).request.claimId())
                    .isEqualTo(primary.claim(0).request.claimId() + "-3");
            fallback.claim(0).grant();
            assertThat(waiting).isNotDone();
            primary.claim(1).grant();
            assertThat(get(waiting).isFallback()).isFalse();
        }

        @Test
        void itsClaimsWaitUntilTheFallbackHoldOfTheLockHasEnded() {
            primary.reachable = false;
            CompletableFuture<Lease> first = bench.client.lock("a", FAIR).acquireAsync();
            CompletableFuture<Lease> second = bench.client.lock("a", FAIR).acquireAsync();
            bench.time.advance(AFTER);
            fallback.claim(0).grant();
            bench.heal();
            assertThat(fallback.claim(1).withdrawals).isEqualTo(1);
            assertThat(primary.claims).hasSize(2);
            assertThat(get(bench.client.lock("a", FAIR).tryAcquireAsync(Duration.ZERO)))
                    .isEmpty();
            assertThat(bench.events).noneMatch(event -> event.startsWith("left"));
            get(first).closeAsync();
            assertThat(bench.events.get(bench.events.size() - 1)).startsWith("left");
            primary.claim(2).grant();
            assertThat(get(second).isFallback()).isFalse();
        }

        @Test
        void otherLocksDoNotWaitForALongHold() {
            Lease longHold = bench.enterHolding();
            bench.heal();
            CompletableFuture<Lease> other = bench.client.lock("b").acquireAsync();
            primary.claim(1).grant();
            assertThat(get(other).isFallback()).isFalse();
            assertThat(longHold.isValid()).isTrue();
        }

        @Test
        void aFallbackGrantIsHandedOnOnlyForAWhile() {
            Lease lease = bench.enterHolding();
            bench.heal();
            CompletableFuture<Lease> next = bench.lock.acquireAsync();
            int handOffs = 0;
            lease.closeAsync();
            while (next.isDone() && handOffs < 1_000) {
                handOffs++;
                CompletableFuture<Lease> after = bench.lock.acquireAsync();
                next.join().closeAsync();
                next = after;
            }
            assertThat(handOffs).isLessThanOrEqualTo(LockOptions.defaults().handOff());
            fallback.grant(0).released.complete(true);
            primary.claim(1).grant();
            assertThat(get(next).isFallback()).isFalse();
        }

        @Test
        void aStickyFallbackGrantIsCalledBack() {
            LockOptions sticky = LockOptions.defaults().sticky(Duration.ofHours(1));
            primary.reachable = false;
            CompletableFuture<Lease> first = bench.client.lock("s", sticky).acquireAsync();
            bench.time.advance(AFTER);
            fallback.claim(0).grant();
            get(first).closeAsync();
            assertThat(fallback.grant(0).releases).isZero();
            bench.heal();
            assertThat(fallback.grant(0).releases).isEqualTo(1);
            assertThat(bench.events.get(bench.events.size() - 1)).startsWith("left");
        }

        @Test
        void aWriterWaitsForReadersOfTheFallbackAndAReaderDoesNot() {
            DistributedReadWriteLock readWrite = bench.client.readWriteLock("rw", FAIR);
            primary.reachable = false;
            CompletableFuture<Lease> reader = readWrite.readLock().acquireAsync();
            bench.time.advance(AFTER);
            fallback.claim(0).grant();
            bench.heal();
            readWrite.writeLock().acquireAsync();
            assertThat(primary.claims).hasSize(1);
            CompletableFuture<Lease> second = readWrite.readLock().acquireAsync();
            primary.claim(1).grant();
            assertThat(get(second).isFallback()).isFalse();
            get(reader).closeAsync();
            assertThat(primary.claim(2).mode).isEqualTo(LockMode.EXCLUSIVE);
        }

        @Test
        void anyAnswerShowsThatTheEngineIsBack() {
            bench.enterHolding();
            bench.time.advance(Duration.ofMillis(1));
            primary.contact();
            bench.time.advance(FallbackFixture.MAX_BACKOFF);
            CompletableFuture<Lease> other = bench.client.lock("b").acquireAsync();
            primary.claim(1).grant();
            assertThat(get(other).isFallback()).isFalse();
        }

        @Test
        void itIsProbedNoMoreOftenThanTheBackoff() {
            bench.enterHolding();
            int before = primary.pings;
            bench.time.advance(Duration.ofMinutes(1));
            // An unanswered ping lasts for as long as a request may take.
            assertThat(primary.pings - before).isBetween(5, 12);
        }
    }

    @Nested
    class WhenItGoesAgain {
        @Test
        void beforeTheHoldsHaveDrainedTheFallbackContinues() {
            Lease held = bench.enterHolding();
            bench.heal();
            primary.reachable = false;
            CompletableFuture<Lease> other = bench.client.lock("b").acquireAsync();
            bench.time.advance(AFTER.plus(REQUEST_TIMEOUT));
            fallback.claim(1).grant();
            assertThat(get(other).isFallback()).isTrue();
            held.closeAsync();
            get(other).closeAsync();
            bench.heal();
            assertThat(bench.events)
                    .filteredOn(event -> event.startsWith("entered"))
                    .hasSize(1);
            assertThat(bench.events)
                    .filteredOn(event -> event.startsWith("left"))
                    .hasSize(1);
        }

        @Test
        void afterwardsItIsTheNextFallback() {
            bench.enterHolding().closeAsync();
            fallback.grant(0).released.complete(true);
            bench.heal();
            primary.reachable = false;
            CompletableFuture<Lease> next = bench.lock.acquireAsync();
            bench.time.advance(AFTER);
            fallback.claim(1).grant();
            assertThat(get(next).isFallback()).isTrue();
            assertThat(bench.events)
                    .filteredOn(event -> event.startsWith("entered"))
                    .hasSize(2);
            assertThat(bench.events)
                    .filteredOn(event -> event.startsWith("left"))
                    .hasSize(1);
        }
    }

    @Test
    void aTimedCallThatEndsWhileHoldsDrainFindsTheLockHeld() {
        primary.reachable = false;
        bench.client.lock("a", FAIR).acquireAsync();
        bench.time.advance(AFTER);
        fallback.claim(0).grant();
        bench.heal();
        CompletableFuture<Optional<Lease>> timed = bench.client.lock("a", FAIR).tryAcquireAsync(Duration.ofSeconds(9));
        bench.time.advance(Duration.ofSeconds(9));
        assertThat(get(timed)).isEmpty();
    }
}
