package dev.lockstep.internal;

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

    /** The locks are given back from the last to the first, and the release of the last is not confirmed. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aLossOfOneOfSeveralLocksIsToldWhateverElseGoesWrong(boolean async) throws Exception {
        engine.answersAtOnce = true;
        Lease both = fixture.client.multiLock("b", "c").acquire();
        engine.answersAtOnce = false;
        int lost = async ? 1 : 0; // the one that is given back, or asked for its answer, after the other
        engine.grant(lost).signalLost(LossReason.REVOKED);
        engine.grant(1 - lost).released.completeExceptionally(new LockUnavailableException("c", "no answer"));
        assertThatExceptionOfType(LockLostException.class)
                .isThrownBy(() -> closeAndWait(both, async))
                .satisfies(
                        e -> assertThat(e.getSuppressed()).hasAtLeastOneElementOfType(LockUnavailableException.class));
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
}
