package dev.lockstep.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.LockUnavailableException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class RetryTest {
    private final VirtualScheduler time = new VirtualScheduler();
    private final BackendContext context = Contexts.of("client", time);
    private int tries;

    @Test
    void waitsTheBackoffAndLongerAfterEachFailure() {
        Retry retry = Retry.endless(context);
        assertThat(millis(retry.delayNanos())).isBetween(10L, 20L);
        assertThat(millis(retry.delayNanos())).isBetween(20L, 40L);
        assertThat(retry.failures()).isEqualTo(2);
        retry.succeeded();
        assertThat(millis(retry.delayNanos())).isBetween(10L, 20L);
    }

    @Test
    void doesNotWaitAfterTheFirstFailureIfAskedNotTo() {
        Retry retry = Retry.endless(context).firstAtOnce();
        assertThat(retry.delayNanos()).isZero();
        assertThat(millis(retry.delayNanos())).isBetween(20L, 40L);
    }

    @Test
    void triesAgainUntilTheTtlHasPassed() {
        Retry retry = Retry.forTtl(context);
        attempt(retry);
        time.advance(Contexts.TTL.minusSeconds(2));
        int before = tries;
        time.advance(Duration.ofSeconds(1));
        assertThat(tries).isGreaterThan(before);
        time.advance(Duration.ofSeconds(1));
        int all = tries;
        time.advance(Duration.ofMinutes(1));
        assertThat(tries).isEqualTo(all);
        assertThat(retry.later(() -> tries++)).isFalse();
    }

    private void attempt(Retry retry) {
        tries++;
        retry.later(() -> attempt(retry));
    }

    /** They all failed at the same moment. When the engine is back, it must not get all their requests at one moment. */
    @Test
    void theTriesOfTenThousandClientsAreSpreadOverTheirWaits() {
        int clients = 10_000;
        for (int i = 0; i < clients; i++) {
            attempt(Retry.endless(context));
        }
        time.advance(Duration.ofSeconds(10)); // until the waits are as long as they get
        Duration longest = context.retryBackoff().max();
        for (int part = 0; part < 20; part++) {
            int before = tries;
            time.advance(longest.dividedBy(10));
            assertThat(tries - before).isBetween(clients / 20, clients / 5);
        }
    }

    @Test
    void connectsAgainWhileTheEngineIsAway() {
        String connected = Retry.connect(context, () -> succeedAt(3), failure -> false);
        assertThat(connected).isEqualTo("connected");
        assertThat(tries).isEqualTo(3);
    }

    @Test
    void doesNotConnectAgainAfterAFinalFailure() {
        assertThatThrownBy(() -> Retry.connect(context, () -> succeedAt(3), failure -> true))
                .isInstanceOf(LockUnavailableException.class);
        assertThat(tries).isEqualTo(1);
    }

    @Test
    void stopsConnectingWhenTheRequestTimeoutIsOver() {
        assertThatThrownBy(() -> Retry.connect(
                        context,
                        () -> {
                            time.advance(Contexts.REQUEST_TIMEOUT);
                            return succeedAt(3);
                        },
                        failure -> false))
                .isInstanceOf(LockUnavailableException.class);
        assertThat(tries).isEqualTo(1);
    }

    @Test
    void anInterruptEndsTheWaitForTheNextTryAndStays() {
        Thread.currentThread().interrupt();
        try {
            assertThatThrownBy(() -> Retry.connect(context, () -> succeedAt(3), failure -> false))
                    .isInstanceOf(LockUnavailableException.class);
        } finally {
            assertThat(Thread.interrupted()).isTrue();
        }
        assertThat(tries).isEqualTo(1);
    }

    private String succeedAt(int number) {
        tries++;
        if (tries < number) {
            throw new LockUnavailableException(null, "away");
        }
        return "connected";
    }

    private static long millis(long nanos) {
        return TimeUnit.NANOSECONDS.toMillis(nanos);
    }
}
