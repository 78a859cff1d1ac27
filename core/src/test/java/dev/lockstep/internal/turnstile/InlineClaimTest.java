package dev.lockstep.internal.turnstile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.lockstep.DistributedLock;
import dev.lockstep.Lease;
import dev.lockstep.LockLostException;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.LossReason;
import dev.lockstep.internal.ScriptedBackend;
import dev.lockstep.internal.TurnstileFixture;
import dev.lockstep.internal.client.Client;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a thread sees that finds nothing in its way, on a client that nobody listens to. */
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
    void aHoldEndsAtItsDeadlineThoughNobodyLooks() throws Exception {
        List<LossReason> told = new ArrayList<>();
        Lease lease = lock.acquire();
        lease.onLost(told::add);
        fixture.time.advance(ScriptedBackend.VALIDITY);
        assertThat(told).containsExactly(LossReason.EXPIRED);
        assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::close);
    }

    @Test
    void aLossThatIsToldBeforeTheGrantIsHeard() {
        engine.meanwhile = () -> engine.grant(0).signalLost(LossReason.REVOKED);
        lock.lock();
        assertThat(lock.isHeldByCurrentThread()).isFalse();
        assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::unlock);
    }

    @Test
    void aGrantThatComesWhileTheClientIsBeingClosedIsGivenBack() {
        engine.meanwhile = () -> client.context().turnstile("a").close();
        assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(lock::lock);
        assertThat(engine.claim(0).withdrawals).isEqualTo(1);
        assertThat(lock.isHeldByCurrentThread()).isFalse();
    }
}
