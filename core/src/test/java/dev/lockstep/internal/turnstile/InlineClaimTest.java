package dev.lockstep.internal.turnstile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockLostException;
import dev.lockstep.LockMode;
import dev.lockstep.LockOptions;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.LossReason;
import dev.lockstep.internal.ScriptedBackend;
import dev.lockstep.internal.TurnstileFixture;
import dev.lockstep.internal.client.Client;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Inline claims: the lock is free, and the client has no listeners. */
class InlineClaimTest {
    private final TurnstileFixture fixture = new TurnstileFixture();
    private final ScriptedBackend engine = fixture.engine;
    private final Client client = fixture.open(List.of());
    private final DistributedLock lock = client.lock("a");

    @BeforeEach
    void answerAtOnce() {
        engine.answersAtOnce = true;
    }

    @Test
    void aHoldEndsAtItsDeadlineWithoutALook() throws Exception {
        List<LossReason> told = new ArrayList<>();
        Lease lease = lock.acquire();
        lease.onLost(told::add);
        fixture.time.advance(ScriptedBackend.VALIDITY);
        assertThat(told).containsExactly(LossReason.EXPIRED);
        assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::close);
    }

    @Test
    void aLossThatIsReportedBeforeTheGrantCounts() {
        engine.meanwhile = () -> engine.grant(0).signalLost(LossReason.REVOKED);
        lock.lock();
        assertThat(lock.isHeldByCurrentThread()).isFalse();
        assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::unlock);
    }

    @Test
    void aGrantThatComesWhileTheClientIsBeingClosedIsReleased() {
        engine.meanwhile = () -> client.context().turnstile("a").close();
        assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(lock::lock);
        assertThat(engine.claim(0).withdrawals).isEqualTo(1);
        assertThat(lock.isHeldByCurrentThread()).isFalse();
    }

    /** A call that does not wait. The call of this thread claims inline. */
    private SimThread comes(Thread owner) {
        return new SimThread(owner, client, "a", LockMode.EXCLUSIVE, LockOptions.defaults(), 0);
    }

    /** Does something once, while the first claim is being submitted. */
    private void meanwhile(Runnable action) {
        engine.meanwhile = () -> {
            engine.meanwhile = () -> {};
            action.run();
        };
    }

    @Test
    void aCallThatComesMeanwhileClaimsWhenTheAnswerIsLate() {
        engine.answersAtOnce = false;
        List<CompletableFuture<Lease>> waiting = new ArrayList<>();
        meanwhile(() -> waiting.add(lock.acquireAsync()));
        comes(Thread.currentThread());
        assertThat(engine.claims).hasSize(2);
        engine.claim(1).grant();
        assertThat(TurnstileFixture.get(waiting.get(0)).isValid()).isTrue();
    }

    /** The engine can grant both only if it took the lock away in between: the older grant is lost. */
    @Test
    void oneOfTwoGrantsIsValidIfAnotherCallWasGrantedMeanwhile() {
        List<SimThread> threads = new ArrayList<>();
        meanwhile(() -> threads.add(comes(new Thread("other"))));
        threads.add(comes(Thread.currentThread()));
        assertThat(threads.stream()
                        .map(SimThread::lease)
                        .filter(Objects::nonNull)
                        .filter(Lease::isValid))
                .hasSize(1);
    }
}
