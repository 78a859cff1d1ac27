package dev.lockstep.internal.turnstile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.lockstep.DistributedLock;
import dev.lockstep.LockLostException;
import dev.lockstep.LockOptions;
import dev.lockstep.LossReason;
import dev.lockstep.internal.TurnstileFixture;
import dev.lockstep.internal.client.Client;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Of the maximum times of a hold's re-entries the earliest end applies. */
class ReentryMaxHoldTest {
    private final TurnstileFixture fixture = new TurnstileFixture();
    private final Client client = fixture.open(List.of());
    private final DistributedLock endless = client.lock("a");
    private final DistributedLock two = client.lock("a", LockOptions.defaults().maxHold(Duration.ofSeconds(2)));
    private final DistributedLock ten = client.lock("a", LockOptions.defaults().maxHold(Duration.ofSeconds(10)));

    @BeforeEach
    void answerAtOnce() {
        fixture.engine.answersAtOnce = true;
    }

    private void endsAfterTwoSeconds() {
        fixture.time.advance(Duration.ofMillis(1_999));
        assertThat(endless.isHeldByCurrentThread()).isTrue();
        fixture.time.advance(Duration.ofMillis(1));
        assertThat(endless.isHeldByCurrentThread()).isFalse();
        assertThatExceptionOfType(LockLostException.class)
                .isThrownBy(endless::unlock)
                .satisfies(lost -> assertThat(lost.reason()).isEqualTo(LossReason.MAX_HOLD_REACHED));
    }

    @Test
    void shortensAHoldWithoutOne() {
        endless.lock();
        two.lock();
        endsAfterTwoSeconds();
    }

    @Test
    void shortensALongerOne() {
        ten.lock();
        two.lock();
        endsAfterTwoSeconds();
    }

    @Test
    void doesNotLengthenAShorterOne() {
        two.lock();
        ten.lock();
        endless.lock();
        endsAfterTwoSeconds();
    }

    @Test
    void countsFromTheReentry() {
        ten.lock();
        fixture.time.advance(Duration.ofSeconds(3));
        assertThat(two.tryLock()).isTrue();
        endsAfterTwoSeconds();
    }

    @Test
    void staysWhenTheReentryIsReleased() {
        endless.lock();
        two.lock();
        two.unlock();
        endsAfterTwoSeconds();
    }
}
