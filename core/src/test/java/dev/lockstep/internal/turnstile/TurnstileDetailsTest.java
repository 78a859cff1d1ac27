package dev.lockstep.internal.turnstile;

import static dev.lockstep.internal.TurnstileFixture.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockLostException;
import dev.lockstep.LockOptions;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.LossReason;
import dev.lockstep.ReleaseNotConfirmedException;
import dev.lockstep.internal.ScriptedBackend;
import dev.lockstep.internal.ScriptedBackend.ScriptedClaim;
import dev.lockstep.internal.ScriptedBackend.ScriptedGrant;
import dev.lockstep.internal.TurnstileFixture;
import dev.lockstep.internal.fallback.FallbackFixture;
import dev.lockstep.spi.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Details of the turnstile that mutation testing, or a look at the code, found without a test. */
class TurnstileDetailsTest {
    private final TurnstileFixture fixture = new TurnstileFixture();
    private final ScriptedBackend engine = fixture.engine;
    private final DistributedLock lock = fixture.lock;

    @Test
    void readingUnderOnesOwnWriteLockIsNoHandOff() {
        engine.answersAtOnce = true;
        fixture.readWrite.writeLock().lock();
        fixture.readWrite.readLock().lock();
        assertThat(fixture.events).isEmpty();
        fixture.readWrite.writeLock().unlock();
        fixture.readWrite.readLock().unlock();
        assertThat(engine.grant(0).releases).isEqualTo(1);
    }

    @Test
    void tokensThatAreRefusedInFallbackAreNotUsedUp() {
        FallbackFixture both = new FallbackFixture();
        Lease first = both.enterHolding();
        for (int i = 0; i < 1023; i++) {
            assertThatIllegalStateException().isThrownBy(first::token);
        }
        CompletableFuture<Lease> next = both.lock.acquireAsync();
        first.closeAsync();
        assertThat(get(next).isFallback()).isTrue();
        assertThat(both.fallback.claims).hasSize(1);
    }

    /** With a listener a call does not end by the fast way, and must not begin a second time. */
    @Test
    void aLockThatIsNotReentrantIsTakenOnce() {
        engine.answersAtOnce = true;
        DistributedLock once = fixture.client.lock("b", LockOptions.defaults().nonReentrant());
        for (int i = 1; i <= 2; i++) { // the second time the turnstile knows what kind of lock it is
            once.lock();
            assertThat(engine.claims).hasSize(i);
            once.unlock();
        }
    }

    /** The locks are released from the last to the first, and the release of the last is not confirmed. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aLossOfOneOfSeveralLocksIsReportedWhateverElseFails(boolean async) throws Exception {
        engine.answersAtOnce = true;
        Lease both = fixture.client.multiLock("b", "c").acquire();
        engine.answersAtOnce = false;
        int lost = async ? 1 : 0; // the one that is released, or asked for its answer, after the other
        engine.grant(lost).signalLost(LossReason.REVOKED);
        engine.grant(1 - lost).released.completeExceptionally(new LockUnavailableException("c", "no answer"));
        assertThatExceptionOfType(LockLostException.class)
                .isThrownBy(() -> closeAndWait(both, async))
                .satisfies(e ->
                        assertThat(e.getSuppressed()).hasAtLeastOneElementOfType(ReleaseNotConfirmedException.class));
    }

    private static void closeAndWait(Lease lease, boolean async) throws Throwable {
        if (!async) {
            lease.close();
            return;
        }
        try {
            lease.closeAsync().get();
        } catch (ExecutionException e) {
            throw e.getCause();
        }
    }

    @Test
    void aClosedClientRefusesItsLocks() {
        fixture.client.close();
        assertThatIllegalStateException().isThrownBy(lock::lock);
        assertThat(engine.claims).isEmpty();
    }

    @Test
    void aLeaseIsClosedOnceAndSaysSo() throws Exception {
        engine.answersAtOnce = true;
        Lease lease = lock.acquire();
        lease.ensureValid();
        assertThat(lease).hasToString("Lease[a]");
        lease.close();
        lease.close();
        assertThat(engine.grant(0).releases).isEqualTo(1);
        assertThat(lease).hasToString("Lease[a, closed]");
        assertThatIllegalStateException().isThrownBy(lease::ensureValid);
    }

    @Test
    void aLostLeaseSaysSo() {
        engine.answersAtOnce = true;
        Lease lease = get(lock.acquireAsync());
        engine.grant(0).signalLost(LossReason.REVOKED);
        assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::ensureValid);
    }

    @Test
    void theIdleTimeOfAStickyLockCountsFromItsRelease() {
        engine.answersAtOnce = true;
        DistributedLock sticky =
                fixture.open(List.of()).lock("a", LockOptions.defaults().sticky(Duration.ofSeconds(10)));
        sticky.lock();
        fixture.time.advance(Duration.ofSeconds(15));
        sticky.unlock();
        fixture.time.advance(Duration.ofSeconds(9));
        assertThat(engine.grant(0).releases).isZero();
        fixture.time.advance(Duration.ofSeconds(2));
        assertThat(engine.grant(0).releases).isEqualTo(1);
    }

    @Test
    void aGrantWhoseLossWasReportedFirstIsNotUsed() {
        CompletableFuture<Lease> waiting = lock.acquireAsync();
        ScriptedClaim claim = engine.claim(0);
        ScriptedGrant grant = engine.new ScriptedGrant(claim.request, fixture.time.nanoTime());
        grant.signalLost(LossReason.REVOKED);
        claim.outcome.complete(new Outcome.Granted(grant));
        assertThat(waiting).isNotDone();
        engine.claim(1).grant();
        assertThat(get(waiting).isValid()).isTrue();
    }

    /** An operator may release a lock by force at the moment at which it is granted. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aCallThatDoesNotWaitIsClaimedForAgainIfItsGrantIsLostAtOnce(boolean lostTwice) {
        engine.answersAtOnce = true;
        int losses = lostTwice ? 2 : 1;
        engine.meanwhile = () -> {
            if (engine.grants.size() <= losses) {
                engine.grant(engine.grants.size() - 1).signalLost(LossReason.REVOKED);
            }
        };
        assertThat(lock.tryLock()).isTrue();
        assertThat(engine.claims).hasSize(losses + 1);
        lock.unlock();
        assertThat(engine.grant(losses).releases).isEqualTo(1);
    }

    @Test
    void aGrantThatCameTooLateForACallThatDoesNotWaitIsAnUnavailableEngine() {
        CompletableFuture<Optional<Lease>> call = lock.tryAcquireAsync(Duration.ZERO);
        engine.claim(0).grantAsOf(fixture.time.nanoTime() - ScriptedBackend.VALIDITY.toNanos());
        assertThat(call)
                .isCompletedExceptionally()
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .withCauseInstanceOf(LockUnavailableException.class);
    }

    /** One grant serves them all, because the engine cannot make it shared. */
    @Test
    void readersAfterAWriterDoNotHaveTheTokenOfReadersBeforeIt() throws Exception {
        engine.answersAtOnce = true;
        engine.downgrades = false;
        Lease writer = fixture.readWrite.writeLock().acquire();
        CompletableFuture<Lease> reader = fixture.readWrite.readLock().acquireAsync();
        CompletableFuture<Lease> together = fixture.readWrite.readLock().acquireAsync();
        writer.close();
        long before = get(reader).token();
        assertThat(get(together).token()).isEqualTo(before);

        CompletableFuture<Lease> nextWriter = fixture.readWrite.writeLock().acquireAsync();
        get(reader).close();
        get(together).close();
        long written = get(nextWriter).token();
        CompletableFuture<Lease> nextReader = fixture.readWrite.readLock().acquireAsync();
        get(nextWriter).close();

        assertThat(written).isGreaterThan(before);
        assertThat(get(nextReader).token()).isGreaterThan(written);
        assertThat(engine.claims).hasSize(1);
    }

    /** No timer has run since the deadline: the call itself has to look. */
    @Test
    void theFirstCallAfterAPauseFindsThatTheLockIsLost() throws Exception {
        engine.answersAtOnce = true;
        lock.lock();
        fixture.time.pause(ScriptedBackend.VALIDITY);
        assertThatExceptionOfType(LockLostException.class)
                .isThrownBy(lock::unlock)
                .satisfies(e -> assertThat(e.reason()).isEqualTo(LossReason.EXPIRED));

        lock.lock();
        fixture.time.pause(ScriptedBackend.VALIDITY);
        assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::lock);
        assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::unlock);

        Lease looked = lock.acquire();
        fixture.time.pause(ScriptedBackend.VALIDITY);
        assertThat(looked.isValid()).isFalse();
        assertThatExceptionOfType(LockLostException.class).isThrownBy(looked::close);

        Lease lease = lock.acquire();
        fixture.time.pause(ScriptedBackend.VALIDITY);
        assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::token);
        List<LossReason> told = new ArrayList<>();
        lease.onLost(told::add);
        assertThat(told).containsExactly(LossReason.EXPIRED);
    }

    @Test
    void holdsByLockAndByLeaseAreCountedTogether() throws Exception {
        engine.answersAtOnce = true;
        lock.lock();
        Lease first = lock.acquire();
        Lease second = lock.acquire();
        assertThat(lock.holdCount()).isEqualTo(3);
        first.close();
        lock.unlock();
        assertThat(lock.holdCount()).isEqualTo(1);
        assertThat(engine.grant(0).releases).isZero();
        second.close();
        assertThat(engine.grant(0).releases).isEqualTo(1);
    }

    @Test
    void readersJoinReadersAgainWhenAWriterHasGivenUp() {
        engine.answersAtOnce = true;
        get(fixture.readWrite.readLock().acquireAsync());
        engine.answersAtOnce = false;
        CompletableFuture<Lease> writer = fixture.readWrite.writeLock().acquireAsync();
        CompletableFuture<Lease> behind = fixture.readWrite.readLock().acquireAsync();
        assertThat(behind).isNotDone();
        writer.cancel(true);
        assertThat(get(behind).isValid()).isTrue();
        int claims = engine.claims.size();
        assertThat(get(fixture.readWrite.readLock().acquireAsync()).isValid()).isTrue();
        assertThat(engine.claims).hasSize(claims);
    }
}
