package dev.lockstep.internal.turnstile;

import static dev.lockstep.internal.TurnstileFixture.REQUEST_TIMEOUT;
import static dev.lockstep.internal.TurnstileFixture.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.DistributedLock;
import dev.lockstep.DistributedReadWriteLock;
import dev.lockstep.Lease;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockLostException;
import dev.lockstep.LockMode;
import dev.lockstep.LockOptions;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.LossReason;
import dev.lockstep.ReleaseNotConfirmedException;
import dev.lockstep.SelfDeadlockException;
import dev.lockstep.internal.ScriptedBackend;
import dev.lockstep.internal.TurnstileFixture;
import dev.lockstep.internal.client.Client;
import dev.lockstep.internal.concurrent.ThreadName;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.VirtualScheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The turnstile over an engine that answers when the test says so, on a clock that the test turns. */
class TurnstileTest {
    private final TurnstileFixture fixture = new TurnstileFixture();
    private final VirtualScheduler time = fixture.time;
    private final ScriptedBackend engine = fixture.engine;
    private final List<String> events = fixture.events;
    private final Client client = fixture.client;
    private final DistributedLock lock = fixture.lock;
    private final DistributedReadWriteLock readWrite = fixture.readWrite;

    @Nested
    class ClaimsAtTheEngine {
        @Test
        void anUncontendedPairIsOneClaimAndOneRelease() {
            engine.answersAtOnce = true;
            lock.lock();
            lock.unlock();
            assertThat(engine.claims).hasSize(1);
            assertThat(engine.claim(0).request.mayBarge()).isTrue();
            assertThat(engine.claim(0).request.blockAtMost()).isEqualTo(REQUEST_TIMEOUT);
            assertThat(engine.grant(0).releases).isEqualTo(1);
        }

        @Test
        void reentryAsksNothing() {
            engine.answersAtOnce = true;
            lock.lock();
            lock.lock();
            assertThat(lock.holdCount()).isEqualTo(2);
            lock.unlock();
            assertThat(engine.grant(0).releases).isZero();
            lock.unlock();
            assertThat(engine.claims).hasSize(1);
            assertThat(engine.grant(0).releases).isEqualTo(1);
        }

        @Test
        void manyCallsMakeOneWaitingClaim() {
            for (int i = 0; i < 10; i++) {
                lock.acquireAsync();
            }
            assertThat(engine.claims).hasSize(1);
        }

        @Test
        void theClaimOutlivesTheCallThatCausedIt() {
            CompletableFuture<Lease> first = lock.acquireAsync();
            CompletableFuture<Lease> second = lock.acquireAsync();
            first.cancel(true);
            assertThat(engine.claim(0).withdrawals).isZero();
            engine.claim(0).grant();
            assertThat(get(second).isValid()).isTrue();
        }

        @Test
        void theClaimIsWithdrawnWhenTheLastCallGivesUp() {
            CompletableFuture<Lease> first = lock.acquireAsync();
            CompletableFuture<Lease> second = lock.acquireAsync();
            first.cancel(true);
            second.cancel(true);
            assertThat(engine.claim(0).withdrawals).isEqualTo(1);
        }

        @Test
        void aNewCallWaitsUntilTheWithdrawalIsDone() {
            lock.acquireAsync().cancel(true);
            lock.acquireAsync();
            assertThat(engine.claims).hasSize(1);
            engine.claim(0).withdrawn.complete(null);
            assertThat(engine.claims).hasSize(2);
        }

        @Test
        void aNewCallWaitsUntilTheReleaseIsDone() {
            CompletableFuture<Lease> first = lock.acquireAsync();
            engine.claim(0).grant();
            get(first).closeAsync();
            lock.acquireAsync();
            assertThat(engine.claims).hasSize(1);
            engine.grant(0).released.complete(true);
            assertThat(engine.claims).hasSize(2);
        }

        @Test
        void aGrantThatRacesACancelIsLeftToTheWithdrawal() {
            CompletableFuture<Lease> first = lock.acquireAsync();
            first.cancel(true);
            engine.claim(0).grant();
            assertThat(engine.grant(0).releases).isZero();
            assertThat(engine.claim(0).withdrawals).isEqualTo(1);
        }

        @Test
        void aFairLockClaimsForEachCall() {
            DistributedLock fair = client.lock("f", LockOptions.defaults().fair());
            CompletableFuture<Lease> first = fair.acquireAsync();
            CompletableFuture<Lease> second = fair.acquireAsync();
            assertThat(engine.claims).hasSize(2);
            assertThat(engine.claim(1).request.mayBarge()).isFalse();
            engine.claim(0).grant();
            get(first).closeAsync();
            assertThat(engine.grant(0).releases).isEqualTo(1);
            assertThat(second).isNotDone();
            second.cancel(true);
            assertThat(engine.claim(1).withdrawals).isEqualTo(1);
        }

        @Test
        void aCallThatMayNotWaitHasItsOwnClaim() {
            lock.acquireAsync();
            CompletableFuture<Optional<Lease>> attempt = lock.tryAcquireAsync(Duration.ZERO);
            assertThat(engine.claim(1).request.mayWait()).isFalse();
            engine.claim(1).busy();
            assertThat(get(attempt)).isEmpty();
        }

        @Test
        void aCallThatMayNotWaitIsAnsweredFromHereWhileALocalHoldStandsAgainstIt() {
            lock.acquireAsync();
            engine.claim(0).grant();
            assertThat(get(lock.tryAcquireAsync(Duration.ZERO))).isEmpty();
            assertThat(engine.claims).hasSize(1);
        }

        @Test
        void aFailedClaimIsReportedAndTakenBack() {
            CompletableFuture<Lease> first = lock.acquireAsync();
            engine.claim(0).outcome.completeExceptionally(new IllegalStateException("boom"));
            assertThatThrownBy(first::join).hasCauseInstanceOf(LockUnavailableException.class);
            assertThat(engine.claim(0).withdrawals).isEqualTo(1);
        }

        @Test
        void claimIdsAreUniqueAndSpeakable() {
            lock.acquireAsync();
            client.lock("b").acquireAsync();
            String first = engine.claim(0).request.claimId();
            assertThat(first).isEqualTo(engine.claim(0).request.claimId()).matches("[A-Za-z0-9_.-]+");
            assertThat(engine.claim(1).request.claimId()).isNotEqualTo(first);
        }
    }

    @Nested
    class HandOff {
        @Test
        void isFreeWhileNobodyElseWants() {
            CompletableFuture<Lease> current = lock.acquireAsync();
            List<CompletableFuture<Lease>> others = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                others.add(lock.acquireAsync());
            }
            engine.claim(0).grant();
            for (CompletableFuture<Lease> next : others) {
                get(current).closeAsync();
                current = next;
            }
            get(current).closeAsync();
            assertThat(engine.claims).hasSize(1);
            assertThat(engine.grant(0).releases).isEqualTo(1);
            assertThat(events).hasSize(200).containsOnly("handed off");
        }

        @Test
        void isBoundedByCountOnceWanted() {
            assertThat(handOffsUntilRelease(LockOptions.defaults())).isEqualTo(64);
            assertThat(engine.claims).hasSize(1);
            engine.grant(0).released.complete(true);
            assertThat(engine.claims).hasSize(2);
            assertThat(engine.claim(1).request.mayBarge()).isFalse();
        }

        @Test
        void isBoundedByOptionOnceWanted() {
            assertThat(handOffsUntilRelease(LockOptions.defaults().handOff(3))).isEqualTo(3);
        }

        @Test
        void zeroReleasesAtOnceWhenWanted() {
            assertThat(handOffsUntilRelease(LockOptions.defaults().handOff(0))).isZero();
        }

        @Test
        void isBoundedAlwaysWhereTheEngineCannotTell() {
            engine.reportsWanted = false;
            Client blind = fixture.open();
            CompletableFuture<Lease> current = blind.lock("b").acquireAsync();
            List<CompletableFuture<Lease>> others = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                others.add(blind.lock("b").acquireAsync());
            }
            engine.claim(0).grant();
            assertThat(run(current, others)).isEqualTo(64);
        }

        @Test
        void isBoundedByTimeOnceWanted() {
            CompletableFuture<Lease> first = lock.acquireAsync();
            CompletableFuture<Lease> second = lock.acquireAsync();
            lock.acquireAsync();
            engine.claim(0).grant().signalWanted();
            get(first).closeAsync();
            assertThat(second).isDone();
            time.advance(Duration.ofMillis(11));
            get(second).closeAsync();
            assertThat(engine.grant(0).releases).isEqualTo(1);
        }

        private int handOffsUntilRelease(LockOptions options) {
            DistributedLock used = client.lock("a", options);
            CompletableFuture<Lease> current = used.acquireAsync();
            List<CompletableFuture<Lease>> others = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                others.add(used.acquireAsync());
            }
            engine.claim(0).grant().signalWanted();
            return run(current, others);
        }

        private int run(CompletableFuture<Lease> first, List<CompletableFuture<Lease>> others) {
            CompletableFuture<Lease> current = first;
            for (int i = 0; i < others.size(); i++) {
                get(current).closeAsync();
                current = others.get(i);
                if (!current.isDone()) {
                    assertThat(engine.grant(0).releases).isEqualTo(1);
                    return i;
                }
            }
            return others.size();
        }
    }

    @Nested
    class Barging {
        @Test
        void doesNotKeepAWaitingThreadFromTheLockIndefinitely() {
            engine.answersAtOnce = true;
            lock.lock();
            SimThread waiting =
                    new SimThread(client, "a", LockMode.EXCLUSIVE, LockOptions.defaults(), SimThread.FOREVER);
            int overtaken = 0;
            lock.unlock();
            while (lock.tryLock()) {
                lock.unlock();
                overtaken++;
            }
            assertThat(overtaken).isEqualTo(HandOffs.MAX_BYPASS);
            assertThat(waiting.look()).isTrue();
            assertThat(waiting.lease()).isNotNull();
            assertThat(engine.claims).hasSize(1);
        }
    }

    @Nested
    class Tokens {
        @Test
        void areTheEnginesWithAnIndexInOrderOfAsking() {
            CompletableFuture<Lease> first = lock.acquireAsync();
            CompletableFuture<Lease> second = lock.acquireAsync();
            engine.claim(0).grant();
            long token = get(first).token();
            assertThat(token).isEqualTo(engine.grant(0).token() * 1024 + 1);
            assertThat(get(first).token()).isEqualTo(token);
            get(first).closeAsync();
            assertThat(get(second).token()).isEqualTo(token + 1);
            assertThat(get(first).token()).isEqualTo(token);
        }

        @Test
        void cannotBeAskedFirstAfterTheEnd() {
            CompletableFuture<Lease> first = lock.acquireAsync();
            engine.claim(0).grant();
            get(first).closeAsync();
            assertThatExceptionOfType(IllegalStateException.class)
                    .isThrownBy(() -> get(first).token());
        }

        @Test
        void endTheHandOffWhenTheyAreUsedUp() {
            CompletableFuture<Lease> current = lock.acquireAsync();
            engine.claim(0).grant();
            long last = 0;
            for (int i = 0; i < 1023; i++) {
                CompletableFuture<Lease> next = lock.acquireAsync();
                assertThat(get(current).token()).isGreaterThan(last);
                last = get(current).token();
                get(current).closeAsync();
                current = next;
            }
            assertThat(current).isNotDone();
            assertThat(engine.grant(0).releases).isEqualTo(1);
        }

        @Test
        void readersTogetherShareOne() {
            CompletableFuture<Lease> first = readWrite.readLock().acquireAsync();
            CompletableFuture<Lease> second = readWrite.readLock().acquireAsync();
            engine.claim(0).grant();
            assertThat(get(first).token()).isEqualTo(get(second).token());
        }
    }

    @Nested
    class Loss {
        @Test
        void comesWithTheDeadline() {
            List<LossReason> told = new ArrayList<>();
            CompletableFuture<Lease> first = lock.acquireAsync();
            engine.claim(0).grant();
            Lease lease = get(first);
            lease.onLost(told::add);
            time.advance(ScriptedBackend.VALIDITY.minusNanos(1));
            assertThat(lease.isValid()).isTrue();
            assertThat(lease.remaining()).isEqualTo(Duration.ofNanos(1));
            time.advance(Duration.ofNanos(1));
            assertThat(told).containsExactly(LossReason.EXPIRED);
            assertThat(lease.isValid()).isFalse();
            assertThat(engine.grant(0).releases).isEqualTo(1);
            assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::close);
            lease.close();
            assertThat(events).containsExactly("lost EXPIRED");
        }

        @Test
        void isSeenByTheFirstLookAfterAPauseEvenIfARenewalCameLate() {
            CompletableFuture<Lease> first = lock.acquireAsync();
            ScriptedBackend.ScriptedGrant grant = engine.claim(0).grant();
            VirtualScheduler stopped = time;
            stopped.schedule(ScriptedBackend.VALIDITY.toNanos() + 5, () -> {
                assertThat(get(first).isValid()).isFalse();
                grant.renewedUntil(time.nanoTime() + 1_000_000_000);
            });
            stopped.advance(ScriptedBackend.VALIDITY.plusNanos(10));
            assertThat(get(first).isValid()).isFalse();
        }

        @Test
        void thatACallFindsAfterAPauseServesTheWaiters() {
            List<Integer> claims = new ArrayList<>();
            time.schedule(ScriptedBackend.VALIDITY.toNanos(), () -> {
                lock.tryAcquireAsync(Duration.ZERO);
                claims.add(engine.claims.size());
            });
            lock.acquireAsync();
            engine.claim(0).grant();
            lock.acquireAsync();
            time.advance(ScriptedBackend.VALIDITY);
            assertThat(claims).containsExactly(3); // before the timer that ends the grant
        }

        @Test
        void doesNotComeWhileRenewed() {
            CompletableFuture<Lease> first = lock.acquireAsync();
            ScriptedBackend.ScriptedGrant grant = engine.claim(0).grant();
            for (int i = 0; i < 10; i++) {
                time.advance(Duration.ofSeconds(20));
                grant.renewedUntil(time.nanoTime() + ScriptedBackend.VALIDITY.toNanos());
                assertThat(get(first).isValid()).isTrue();
            }
            time.advance(ScriptedBackend.VALIDITY);
            assertThat(events).containsExactly("lost EXPIRED");
        }

        @Test
        void comesWhenTheEngineReportsIt() {
            engine.answersAtOnce = true;
            lock.lock();
            engine.grant(0).signalLost(LossReason.SESSION_ENDED);
            assertThat(lock.isHeldByCurrentThread()).isFalse();
            assertThatExceptionOfType(LockLostException.class)
                    .isThrownBy(lock::lock)
                    .satisfies(e -> assertThat(e.reason()).isEqualTo(LossReason.SESSION_ENDED));
            assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::tryLock);
            assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::unlock);
            assertThatThrownBy(lock::unlock)
                    .isInstanceOf(IllegalMonitorStateException.class)
                    .isNotInstanceOf(LockLostException.class);
            lock.lock();
            lock.unlock();
        }

        @Test
        void isReportedByEachUnlockOfAReenteredHold() {
            engine.answersAtOnce = true;
            lock.lock();
            lock.lock();
            engine.grant(0).signalLost(LossReason.REVOKED);
            assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::unlock);
            assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::unlock);
            assertThat(lock.tryLock()).isTrue();
        }

        @Test
        void isReportedByTheReleaseIfTheEngineFindsIt() {
            CompletableFuture<Lease> first = lock.acquireAsync();
            engine.claim(0).grant();
            CompletableFuture<Void> closed = get(first).closeAsync();
            engine.grant(0).released.complete(false);
            assertThatThrownBy(closed::join).hasCauseInstanceOf(LockLostException.class);
        }

        @Test
        void letsTheNextWaiterClaim() {
            CompletableFuture<Lease> first = lock.acquireAsync();
            CompletableFuture<Lease> second = lock.acquireAsync();
            engine.claim(0).grant().signalLost(LossReason.REVOKED);
            assertThat(get(first).isValid()).isFalse();
            assertThat(engine.claims).hasSize(2);
            engine.claim(1).grant();
            assertThat(get(second).isValid()).isTrue();
        }

        @ParameterizedTest
        @ValueSource(booleans = {false, true})
        void ofAGrantThatArrivesTooLateIsNotTheCallers(boolean fair) {
            LockOptions options = LockOptions.defaults();
            CompletableFuture<Lease> first =
                    client.lock("a", fair ? options.fair() : options).acquireAsync();
            for (int i = 0; i < 31; i++) {
                time.advance(Duration.ofSeconds(1));
                engine.contact();
            }
            engine.claim(0).grantAsOf(engine.claim(0).request.sentNanos());
            assertThat(first).isNotDone();
            assertThat(engine.grant(0).releases).isEqualTo(1);
            assertThat(engine.claims).hasSize(2);
            engine.claim(1).grantAsOf(engine.claim(1).request.sentNanos());
            assertThat(get(first).isValid()).isTrue();
        }

        /** The thread that brought the late grant may be the one that brings the next answer. */
        @Test
        void ofAThreadsLateGrantIsFollowedByAClaimThatDoesNotBlock() {
            Thread thread = new Thread("waiting");
            Turnstile turnstile = client.context().turnstile("a");
            turnstile.enter(new Call(
                    LockMode.EXCLUSIVE,
                    LockOptions.defaults().fair(),
                    SimThread.FOREVER,
                    REQUEST_TIMEOUT,
                    ThreadName.of(thread),
                    thread,
                    null));
            assertThat(engine.claim(0).request.blockAtMost()).isEqualTo(REQUEST_TIMEOUT);
            for (int i = 0; i < 31; i++) {
                time.advance(Duration.ofSeconds(1));
                engine.contact();
            }
            engine.claim(0).grantAsOf(engine.claim(0).request.sentNanos());
            assertThat(engine.claim(1).request.blockAtMost()).isEqualTo(LockBackend.DO_NOT_BLOCK);
        }

        @Test
        void comesWithAYoungerGrantThatTheEngineCouldNotHaveGivenBeside() {
            DistributedLock fair = client.lock("a", LockOptions.defaults().fair());
            CompletableFuture<Lease> first = fair.acquireAsync();
            CompletableFuture<Lease> second = fair.acquireAsync();
            engine.claim(0).grant();
            engine.claim(1).grant();
            assertThat(get(first).isValid()).isFalse();
            assertThat(get(second).isValid()).isTrue();
            assertThat(events).containsExactly("lost REVOKED");
        }

        @Test
        void comesWithTheEndOfTheMaximumTime() {
            DistributedLock leased = client.lock("a", LockOptions.defaults().maxHold(Duration.ofSeconds(2)));
            CompletableFuture<Lease> first = leased.acquireAsync();
            CompletableFuture<Lease> second = leased.acquireAsync();
            engine.claim(0).grant();
            assertThat(get(first).remaining()).isEqualTo(Duration.ofSeconds(2));
            time.advance(Duration.ofSeconds(2));
            assertThat(get(first).isValid()).isFalse();
            assertThat(get(second).isValid()).isTrue();
            time.advance(Duration.ofSeconds(2));
            assertThat(get(second).isValid()).isFalse();
            assertThat(engine.grant(0).releases).isEqualTo(1);
            assertThat(events).containsExactly("lost MAX_HOLD_REACHED", "handed off", "lost MAX_HOLD_REACHED");
        }
    }

    @Nested
    class ReadersAndWriters {
        @Test
        void readersJoinOneGrant() {
            readWrite.readLock().acquireAsync();
            engine.claim(0).grant();
            get(readWrite.readLock().acquireAsync());
            assertThat(engine.claims).hasSize(1);
            assertThat(engine.claim(0).mode).isEqualTo(LockMode.SHARED);
        }

        @Test
        void aReaderThatComesAfterAWriterWaitsBehindIt() {
            CompletableFuture<Lease> reader = readWrite.readLock().acquireAsync();
            engine.claim(0).grant();
            CompletableFuture<Lease> writer = readWrite.writeLock().acquireAsync();
            CompletableFuture<Lease> late = readWrite.readLock().acquireAsync();
            assertThat(late).isNotDone();
            assertThat(engine.claims).hasSize(2);
            get(reader).closeAsync();
            engine.grant(0).released.complete(true);
            engine.claim(1).grant();
            get(writer).closeAsync();
            assertThat(get(late).isValid()).isTrue();
            assertThat(engine.grant(1).downgradeCalls).isEqualTo(1);
        }

        @Test
        void readersOverTheBudgetClaimAgain() {
            DistributedReadWriteLock stingy =
                    client.readWriteLock("a", LockOptions.defaults().handOff(1));
            CompletableFuture<Lease> first = stingy.readLock().acquireAsync();
            engine.claim(0).grant().signalWanted();
            get(stingy.readLock().acquireAsync());
            CompletableFuture<Lease> third = stingy.readLock().acquireAsync();
            assertThat(engine.claims).hasSize(2);
            assertThat(engine.claim(1).request.mayBarge()).isFalse();
            assertThat(get(first).isValid()).isTrue();
            assertThat(third).isNotDone();
        }

        @Test
        void downgradeKeepsTheGrantAndTheToken() throws Exception {
            engine.answersAtOnce = true;
            Lease write = readWrite.writeLock().acquire();
            Lease read = readWrite.readLock().acquire();
            long token = write.token();
            write.close();
            assertThat(engine.grant(0).downgradeCalls).isEqualTo(1);
            assertThat(read.isValid()).isTrue();
            assertThat(read.token()).isEqualTo(token);
            read.close();
            assertThat(engine.grant(0).releases).isEqualTo(1);
            assertThat(engine.claims).hasSize(1);
        }

        @Test
        void theReleaseWaitsForTheDowngrade() throws Exception {
            engine.answersAtOnce = true;
            Lease write = readWrite.writeLock().acquire();
            Lease read = readWrite.readLock().acquire();
            engine.answersAtOnce = false;
            write.close();
            CompletableFuture<Void> closed = read.closeAsync();
            assertThat(engine.grant(0).releases).isZero();
            engine.grant(0).downgraded.complete(true);
            assertThat(engine.grant(0).releases).isEqualTo(1);
            engine.grant(0).released.complete(true);
            get(closed);
        }

        @Test
        void aGrantWhoseDowngradeIsUnknownIsNotHandedToAWriter() throws Exception {
            engine.answersAtOnce = true;
            Lease write = readWrite.writeLock().acquire();
            Lease read = readWrite.readLock().acquire();
            engine.answersAtOnce = false;
            write.close();
            engine.grant(0).downgraded.completeExceptionally(new IllegalStateException("no answer"));
            CompletableFuture<Lease> next = readWrite.writeLock().acquireAsync();
            read.closeAsync();
            assertThat(next).isNotDone();
            assertThat(engine.grant(0).releases).isEqualTo(1);
        }

        @Test
        void aGrantThatCouldNotBeDowngradedIsOverruledByAYoungerOne() {
            CompletableFuture<Optional<Lease>> other = readWrite.readLock().tryAcquireAsync(Duration.ZERO);
            CompletableFuture<Lease> reader = readBehindAWriter();
            engine.grant(0).downgraded.complete(false);
            engine.claim(0).grant();
            assertThat(get(reader).isValid()).isFalse();
            assertThat(get(other).orElseThrow().isValid()).isTrue();
        }

        @Test
        void aGrantIsOverruledByAYoungerOneOnceItsDowngradeIsRefused() {
            CompletableFuture<Optional<Lease>> other = readWrite.readLock().tryAcquireAsync(Duration.ZERO);
            CompletableFuture<Lease> reader = readBehindAWriter();
            engine.claim(0).grant();
            assertThat(get(reader).isValid()).isTrue(); // the engine may have downgraded it, and not answered yet
            engine.grant(0).downgraded.complete(false);
            assertThat(get(reader).isValid()).isFalse();
            assertThat(get(other).orElseThrow().isValid()).isTrue();
        }

        private CompletableFuture<Lease> readBehindAWriter() {
            CompletableFuture<Lease> writer = readWrite.writeLock().acquireAsync();
            CompletableFuture<Lease> reader = readWrite.readLock().acquireAsync();
            engine.claim(1).grant();
            get(writer).closeAsync();
            assertThat(engine.grant(0).downgradeCalls).isEqualTo(1);
            return reader;
        }

        @Test
        void upgradeFailsAtOnce() {
            engine.answersAtOnce = true;
            readWrite.readLock().lock();
            assertThatExceptionOfType(SelfDeadlockException.class).isThrownBy(readWrite.writeLock()::lock);
            assertThatExceptionOfType(SelfDeadlockException.class).isThrownBy(readWrite.writeLock()::tryLock);
            readWrite.readLock().unlock();
        }
    }

    @Nested
    class Outage {
        @Test
        void endsAWaitWithoutDeadlineAfterTheRequestTimeout() {
            engine.reachable = false;
            CompletableFuture<Lease> first = lock.acquireAsync();
            time.advance(REQUEST_TIMEOUT.minusMillis(1));
            assertThat(first).isNotDone();
            time.advance(Duration.ofSeconds(2));
            assertThatThrownBy(first::join).hasCauseInstanceOf(LockUnavailableException.class);
            assertThat(engine.claim(0).withdrawals).isEqualTo(1);
            assertThat(events).containsExactly("unreachable");
            engine.reachable = true;
            time.advance(Duration.ofSeconds(5));
            assertThat(events).containsExactly("unreachable", "reachable");
        }

        @Test
        void doesNotEndAWaitThatSeesContact() {
            CompletableFuture<Lease> first = lock.acquireAsync();
            time.advance(Duration.ofMinutes(10));
            assertThat(first).isNotDone();
            assertThat(engine.pings).isPositive();
            engine.claim(0).grant();
            get(first);
        }

        @Test
        void isNotSeenInAPauseOfThisProcess() {
            CompletableFuture<Lease> first = lock.acquireAsync();
            time.pause(REQUEST_TIMEOUT.multipliedBy(2));
            engine.contact();
            time.advance(Duration.ofSeconds(2));
            assertThat(first).isNotDone();
            assertThat(events).isEmpty();
        }

        @Test
        void makesATimedWaitUnknownRatherThanBusy() {
            engine.reachable = false;
            time.advance(Duration.ofMinutes(1));
            CompletableFuture<Optional<Lease>> first = lock.tryAcquireAsync(Duration.ofSeconds(1));
            time.advance(REQUEST_TIMEOUT.minusNanos(1));
            assertThat(first).as("its first answer may still come").isNotDone();
            time.advance(Duration.ofMillis(1));
            assertThatThrownBy(first::join).hasCauseInstanceOf(LockUnavailableException.class);
        }

        @Test
        void isNoneForATimedWaitBehindALocalHold() {
            CompletableFuture<Lease> first = lock.acquireAsync();
            engine.claim(0).grant();
            time.advance(Duration.ofSeconds(10));
            CompletableFuture<Optional<Lease>> second = lock.tryAcquireAsync(Duration.ofSeconds(1));
            time.advance(Duration.ofSeconds(1));
            assertThat(get(second)).isEmpty();
            assertThat(get(first).isValid()).isTrue();
        }

        @Test
        void watchingEndsWithTheWaiting() {
            lock.acquireAsync();
            engine.claim(0).grant();
            time.advance(Duration.ofSeconds(10));
            assertThat(time.pending()).as("the deadline's timer alone").isEqualTo(1);
        }
    }

    /** An engine that cannot write answers all other requests, but does not confirm that this client released the lock. */
    @Nested
    class WhatIsNotGivenBack {
        private final DistributedLock fair =
                client.lock("f", LockOptions.defaults().fair());

        /** A release that was asked for and is not confirmed. */
        private CompletableFuture<Void> released(DistributedLock of) {
            CompletableFuture<Lease> held = of.acquireAsync();
            engine.claim(engine.claims.size() - 1).grant();
            return get(held).closeAsync();
        }

        /** The holder was notified that its release is not confirmed. */
        private void unconfirmed(DistributedLock of) {
            CompletableFuture<Void> given = released(of);
            time.advance(REQUEST_TIMEOUT);
            assertThatThrownBy(given::join).hasCauseInstanceOf(ReleaseNotConfirmedException.class);
        }

        private void advanceWithContact(Duration by) {
            for (Duration passed = Duration.ZERO; passed.compareTo(by) < 0; passed = passed.plusMillis(100)) {
                time.advance(Duration.ofMillis(100));
                engine.contact();
            }
        }

        private void isToldSo(CompletableFuture<?> call) {
            isToldSo(call, "a");
        }

        private void isToldSo(CompletableFuture<?> call, String name) {
            assertThat(call).isCompletedExceptionally();
            assertThatThrownBy(call::join)
                    .rootCause()
                    .isInstanceOfSatisfying(
                            LockUnavailableException.class,
                            unknown -> assertThat(unknown.lockName()).isEqualTo(name))
                    .hasMessageContaining("'" + name + "'")
                    .hasMessageContaining("has not confirmed yet that an earlier call of this client released it");
        }

        @Test
        void isNoOtherHolderForATimedCall() {
            unconfirmed(lock);
            CompletableFuture<Optional<Lease>> next = lock.tryAcquireAsync(Duration.ofSeconds(2));
            advanceWithContact(Duration.ofSeconds(2));
            isToldSo(next);
            assertThat(engine.claims).hasSize(1);
        }

        @Test
        void isNoOtherHolderForATimedCallOfAThread() throws Exception {
            unconfirmed(lock);
            engine.contact();
            assertThatExceptionOfType(LockUnavailableException.class)
                    .isThrownBy(() -> timedOut(new SimThread(
                            client, "a", LockMode.EXCLUSIVE, LockOptions.defaults(), REQUEST_TIMEOUT.toNanos())))
                    .withMessageContaining("has not confirmed yet");
        }

        private void timedOut(SimThread thread) throws Throwable {
            advanceWithContact(REQUEST_TIMEOUT);
            assertThat(thread.look()).isTrue();
            Throwable error = thread.error();
            if (error != null) {
                throw error;
            }
        }

        @Test
        void doesNotMakeACallWithoutDeadlineWaitForTheTtl() {
            unconfirmed(lock);
            CompletableFuture<Lease> next = lock.acquireAsync();
            advanceWithContact(REQUEST_TIMEOUT.minusMillis(100));
            assertThat(next).isNotDone();
            advanceWithContact(Duration.ofSeconds(2));
            isToldSo(next);
            assertThat(events).as("the engine answers").isEmpty();
        }

        @Test
        void doesNotEndACallThatCameWhileItWasStillHeld() {
            CompletableFuture<Lease> first = lock.acquireAsync();
            engine.claim(0).grant();
            engine.grant(0).signalWanted();
            CompletableFuture<Lease> second =
                    client.lock("a", LockOptions.defaults().handOff(0)).acquireAsync();
            advanceWithContact(REQUEST_TIMEOUT.multipliedBy(2));
            get(first).closeAsync();
            assertThat(engine.grant(0).releases).isEqualTo(1);
            advanceWithContact(REQUEST_TIMEOUT.minusMillis(100));
            assertThat(second).isNotDone();
            advanceWithContact(Duration.ofSeconds(2));
            isToldSo(second);
        }

        @Test
        void doesNotLengthenAnOutage() {
            CompletableFuture<Lease> first = lock.acquireAsync();
            engine.claim(0).grant();
            engine.grant(0).signalWanted();
            engine.reachable = false;
            CompletableFuture<Lease> second =
                    client.lock("a", LockOptions.defaults().handOff(0)).acquireAsync();
            time.advance(REQUEST_TIMEOUT.minusSeconds(1));
            get(first).closeAsync();
            assertThat(second).isNotDone();
            time.advance(Duration.ofSeconds(3));
            assertThat(second).isCompletedExceptionally();
        }

        @Test
        void mayBeAClaimThatWasGivenUp() {
            lock.acquireAsync().cancel(true);
            CompletableFuture<Lease> next = lock.acquireAsync();
            CompletableFuture<Optional<Lease>> timed = lock.tryAcquireAsync(Duration.ofSeconds(2));
            advanceWithContact(REQUEST_TIMEOUT.minusMillis(100));
            assertThat(timed).as("it may be confirmed in time").isNotDone();
            assertThat(next).isNotDone();
            advanceWithContact(Duration.ofSeconds(2));
            isToldSo(timed);
            isToldSo(next);
            assertThat(engine.claims).hasSize(1);
        }

        @Test
        void isNoOtherHolderForACallThatMayNotWait() {
            unconfirmed(lock);
            CompletableFuture<Optional<Lease>> next = lock.tryAcquireAsync(Duration.ZERO);
            engine.claim(1).busy();
            isToldSo(next);
            assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> {
                engine.meanwhile = () -> engine.claim(2).busy();
                lock.tryLock();
            });
        }

        /** No other caller can have it: a call that may not wait asks the engine, which may have it back by now. */
        @Test
        void isNotInTheWayOfACallThatMayNotWaitIfTheEngineGrantsIt() {
            unconfirmed(lock);
            engine.answersAtOnce = true;
            assertThat(lock.tryLock()).isTrue();
        }

        @Test
        void isNoOtherHolderForAFairCall() {
            unconfirmed(fair);
            CompletableFuture<Optional<Lease>> next = fair.tryAcquireAsync(Duration.ofSeconds(2));
            assertThat(engine.claims).as("its own claim").hasSize(2);
            advanceWithContact(Duration.ofSeconds(2));
            isToldSo(next, "f");
        }

        @Test
        void isNoOtherHolderIfItWasAKeptLock() {
            DistributedLock sticky =
                    client.lock("a", LockOptions.defaults().handOff(0).sticky(Duration.ofMinutes(1)));
            CompletableFuture<Lease> held = sticky.acquireAsync();
            engine.claim(0).grant();
            get(held).closeAsync();
            assertThat(engine.grant(0).releases).isZero();
            engine.grant(0).signalWanted();
            assertThat(engine.grant(0).releases).isEqualTo(1);
            CompletableFuture<Optional<Lease>> next = sticky.tryAcquireAsync(Duration.ofSeconds(2));
            advanceWithContact(REQUEST_TIMEOUT);
            isToldSo(next);
        }

        @Test
        void endsTheStepOfAMultiLock() {
            unconfirmed(lock);
            CompletableFuture<Lease> both = client.multiLock("a", "b").acquireAsync();
            CompletableFuture<Optional<Lease>> timed =
                    client.multiLock("a", "b").tryAcquireAsync(Duration.ofSeconds(2));
            advanceWithContact(REQUEST_TIMEOUT.multipliedBy(2));
            isToldSo(both);
            isToldSo(timed);
        }

        @Test
        void isNoErrorIfItIsConfirmedInTime() {
            released(lock);
            CompletableFuture<Optional<Lease>> next = lock.tryAcquireAsync(Duration.ofSeconds(2));
            CompletableFuture<Lease> patient = lock.acquireAsync();
            advanceWithContact(Duration.ofMillis(1900));
            engine.grant(0).released.complete(true);
            engine.claim(1).grant();
            get(get(next).orElseThrow().closeAsync());
            assertThat(get(patient).isValid()).isTrue();
        }

        @Test
        void isTheHoldersForEarlierCallsUntilItIsLate() {
            CompletableFuture<Lease> first = lock.acquireAsync();
            engine.claim(0).grant();
            engine.grant(0).signalWanted();
            DistributedLock yielding = client.lock("a", LockOptions.defaults().handOff(0));
            CompletableFuture<Optional<Lease>> early = yielding.tryAcquireAsync(Duration.ofSeconds(2));
            CompletableFuture<Optional<Lease>> late = yielding.tryAcquireAsync(Duration.ofSeconds(7));
            advanceWithContact(Duration.ofSeconds(1));
            CompletableFuture<Void> given = get(first).closeAsync();
            assertThat(engine.grant(0).releases).isEqualTo(1);
            advanceWithContact(Duration.ofSeconds(1));
            assertThat(given).isNotDone();
            assertThat(early).as("the lock is still held").isNotDone();
            advanceWithContact(Duration.ofSeconds(5));
            assertThat(get(early)).isEmpty();
            isToldSo(late);
        }

        @Test
        void isTheHoldersForAThreadThatLooksTooLateForWhatItWasOffered() {
            CompletableFuture<Lease> first = lock.acquireAsync();
            engine.claim(0).grant();
            SimThread next = new SimThread(
                    client,
                    "a",
                    LockMode.EXCLUSIVE,
                    LockOptions.defaults().handOff(0),
                    Duration.ofSeconds(2).toNanos());
            advanceWithContact(Duration.ofSeconds(2));
            get(first).closeAsync();
            engine.grant(0).signalWanted();
            assertThat(engine.grant(0).releases).as("it was offered").isZero();
            assertThat(next.look()).isFalse();
            assertThat(engine.grant(0).releases).as("another wants it").isEqualTo(1);
            engine.grant(0).released.complete(true);
            assertThat(next.look()).isTrue();
            assertThat(next.error()).isNull();
            assertThat(next.lease()).isNull();
        }

        @Test
        void isAnothersIfTheEngineWasAskedAfterTheCallCame() {
            CompletableFuture<Lease> writer = lock.acquireAsync();
            CompletableFuture<Optional<Lease>> reader =
                    client.readWriteLock("a").readLock().tryAcquireAsync(Duration.ofSeconds(2));
            advanceWithContact(Duration.ofSeconds(1));
            writer.cancel(true);
            assertThat(engine.claim(0).withdrawals).isEqualTo(1);
            advanceWithContact(Duration.ofSeconds(1));
            assertThat(engine.claims).hasSize(1);
            engine.claim(0).withdrawn.complete(null);
            assertThat(engine.claims).as("nobody waits any more").hasSize(1);
            assertThat(get(reader)).isEmpty();
        }

        @Test
        void isNotInTheWayWhileTheEngineIsAsked() {
            CompletableFuture<Optional<Lease>> refused = lock.tryAcquireAsync(Duration.ZERO);
            refused.cancel(true);
            assertThat(engine.claim(0).withdrawals).isEqualTo(1);
            CompletableFuture<Lease> next = lock.acquireAsync();
            assertThat(engine.claims).hasSize(2);
            advanceWithContact(REQUEST_TIMEOUT.multipliedBy(3));
            assertThat(next).isNotDone();
            engine.claim(1).grant();
            assertThat(get(next).isValid()).isTrue();
        }

        @Test
        void isNotSeenInAPauseOfThisProcess() {
            released(lock);
            CompletableFuture<Lease> next = lock.acquireAsync();
            time.pause(REQUEST_TIMEOUT.multipliedBy(2));
            time.advance(Duration.ofSeconds(2));
            assertThat(next).isNotDone();
            engine.grant(0).released.complete(true);
            engine.claim(1).grant();
            assertThat(get(next).isValid()).isTrue();
        }
    }

    @Nested
    class Misuse {
        @Test
        void otherOptionsOnANameInUseAreRefused() {
            engine.answersAtOnce = true;
            lock.lock();
            DistributedLock fair = client.lock("a", LockOptions.defaults().fair());
            assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(fair::lock);
            lock.unlock();
            fair.lock();
            fair.unlock();
        }

        @Test
        void aNonReentrantLockRefusesItsOwnThread() {
            engine.answersAtOnce = true;
            DistributedLock once = client.lock("a", LockOptions.defaults().nonReentrant());
            once.lock();
            assertThatExceptionOfType(SelfDeadlockException.class).isThrownBy(once::lock);
            assertThatExceptionOfType(SelfDeadlockException.class).isThrownBy(once::tryLock);
            once.unlock();
        }

        @Test
        void unlockUndoesOnlyLock() throws Exception {
            engine.answersAtOnce = true;
            try (Lease lease = lock.acquire()) {
                assertThatThrownBy(lock::unlock)
                        .isInstanceOf(IllegalMonitorStateException.class)
                        .hasMessageContaining("lease");
                assertThat(lease.isValid()).isTrue();
            }
        }
    }

    @Nested
    class Close {
        @Test
        void endsEverythingAndClosesTheBackend() {
            engine.answersAtOnce = true;
            CompletableFuture<Lease> held = lock.acquireAsync();
            List<LossReason> told = new ArrayList<>();
            get(held).onLost(told::add);
            engine.answersAtOnce = false;
            CompletableFuture<Lease> waiting = client.lock("b").acquireAsync();
            engine.claim(1).withdrawn.complete(null);
            engine.grant(0).released.complete(true);
            client.close();
            assertThat(told).containsExactly(LossReason.CLIENT_CLOSED);
            assertThatThrownBy(waiting::join).hasCauseInstanceOf(LockUnavailableException.class);
            assertThat(engine.claim(1).withdrawals).isEqualTo(1);
            assertThat(engine.grant(0).releases).isEqualTo(1);
            assertThat(engine.closed).isTrue();
            assertThatExceptionOfType(IllegalStateException.class).isThrownBy(lock::acquireAsync);
            client.close();
        }
    }

    @Nested
    class Sticky {
        private final DistributedLock sticky =
                client.lock("a", LockOptions.defaults().sticky(Duration.ofSeconds(10)));

        @Test
        void keepsTheGrantAndTakesItAgainWithoutTheEngine() {
            engine.answersAtOnce = true;
            for (int i = 0; i < 5; i++) {
                sticky.lock();
                sticky.unlock();
            }
            assertThat(engine.claims).hasSize(1);
            assertThat(engine.grant(0).releases).isZero();
            assertThat(engine.claim(0).request.holder().sticky()).isTrue();
        }

        @Test
        void isReleasedWhenWanted() {
            engine.answersAtOnce = true;
            sticky.lock();
            sticky.unlock();
            engine.grant(0).signalWanted();
            assertThat(engine.grant(0).releases).isEqualTo(1);
            sticky.lock();
            assertThat(engine.claim(1).request.mayBarge()).isFalse();
            engine.grant(1).signalWanted();
            sticky.unlock();
            assertThat(engine.grant(1).releases).as("never kept once wanted").isEqualTo(1);
        }

        @Test
        void isReleasedWhenIdle() {
            engine.answersAtOnce = true;
            sticky.lock();
            sticky.unlock();
            time.advance(Duration.ofSeconds(6));
            sticky.lock();
            sticky.unlock();
            time.advance(Duration.ofSeconds(9));
            assertThat(engine.grant(0).releases).isZero();
            time.advance(Duration.ofSeconds(1));
            assertThat(engine.grant(0).releases).isEqualTo(1);
        }

        @Test
        void isLostAtItsDeadlineAndClaimedAgain() {
            engine.answersAtOnce = true;
            DistributedLock patient = client.lock("b", LockOptions.defaults().sticky(Duration.ofHours(1)));
            patient.lock();
            patient.unlock();
            time.advance(ScriptedBackend.VALIDITY);
            patient.lock();
            assertThat(engine.claims).hasSize(2);
            assertThat(events).as("nobody held it").isEmpty();
            patient.unlock();
        }

        @Test
        void doesNotKeepASharedGrantWhichCouldNotServeAWriter() {
            engine.answersAtOnce = true;
            DistributedReadWriteLock both =
                    client.readWriteLock("b", LockOptions.defaults().sticky(Duration.ofHours(1)));
            both.readLock().lock();
            both.readLock().unlock();
            assertThat(engine.grant(0).releases).isEqualTo(1);
            assertThat(both.writeLock().tryLock()).isTrue();
            both.writeLock().unlock();
            both.readLock().lock();
            assertThat(engine.claims).as("the kept write grant serves a reader").hasSize(2);
            both.readLock().unlock();
        }

        @Test
        void isReleasedOnClose() {
            engine.answersAtOnce = true;
            sticky.lock();
            sticky.unlock();
            client.close();
            assertThat(engine.grant(0).releases).isEqualTo(1);
        }

        @Test
        void isRefusedWhereTheEngineCannotTell() {
            engine.reportsWanted = false;
            Client blind = fixture.open();
            assertThatExceptionOfType(LockConfigurationException.class)
                    .isThrownBy(() -> blind.lock("a", LockOptions.defaults().sticky(Duration.ofSeconds(1))));
        }
    }

    @Test
    void unusedNamesCostNothing() {
        engine.answersAtOnce = true;
        for (int i = 0; i < 100_000; i++) {
            DistributedLock once = client.lock("name " + i);
            once.lock();
            once.unlock();
            engine.claims.clear();
            engine.grants.clear();
        }
        assertThat(client.context().turnstiles().all().size()).isLessThan(1_000);
    }
}
