package dev.lockstep.spi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.LossReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class AbstractGrantTest {
    private final AbstractGrant grant = new TestGrant(7, 100);
    private final List<String> heard = new ArrayList<>();
    private final GrantListener listener = new GrantListener() {
        @Override
        public void lost(LossReason reason) {
            heard.add(reason.name());
        }

        @Override
        public void wanted() {
            heard.add("wanted");
        }
    };

    @Test
    void tellsItsTokenAndItsDeadline() {
        assertThat(grant.token()).isEqualTo(7);
        assertThat(grant.validUntilNanos()).isEqualTo(100);
    }

    @Test
    void theDeadlineMovesForwardOnly() {
        grant.renewedUntil(200);
        grant.renewedUntil(150);
        assertThat(grant.validUntilNanos()).isEqualTo(200);
    }

    @Test
    void aDeadlineBeyondTheOverflowOfTheClockIsLater() {
        AbstractGrant late = new TestGrant(1, Long.MAX_VALUE - 10);
        late.renewedUntil(Long.MIN_VALUE + 10);
        assertThat(late.validUntilNanos()).isEqualTo(Long.MIN_VALUE + 10);
    }

    @Test
    void onlyTheFirstLossCounts() {
        grant.listen(listener);
        assertThat(grant.isLost()).isFalse();

        grant.signalLost(LossReason.REVOKED);
        grant.signalLost(LossReason.EXPIRED);

        assertThat(grant.isLost()).isTrue();
        assertThat(heard).containsExactly("REVOKED");
    }

    @Test
    void aSignalBeforeTheListenerIsToldWhenItComes() {
        grant.signalWanted();
        grant.signalWanted();
        grant.signalLost(LossReason.SESSION_ENDED);
        assertThat(grant.isWanted()).isTrue();

        grant.listen(listener);

        assertThat(heard).containsExactlyInAnyOrder("SESSION_ENDED", "wanted");
    }

    @Test
    void aSignalAfterTheListenerIsToldOnce() {
        grant.listen(listener);
        assertThat(grant.isWanted()).isFalse();
        grant.signalWanted();
        grant.signalWanted();
        assertThat(heard).containsExactly("wanted");
    }

    @Test
    void aGrantStaysExclusiveWhereTheEngineCannotDowngrade() {
        assertThat(grant.downgrade().toCompletableFuture()).isCompletedWithValue(false);
    }

    @Test
    void aSignalThatRacesTheListenerIsHeard() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        try {
            for (int round = 0; round < 5_000; round++) {
                AbstractGrant shared = new TestGrant(1, 0);
                AtomicInteger losses = new AtomicInteger();
                Future<?> signal = pool.submit(() -> shared.signalLost(LossReason.EXPIRED));
                Future<?> listen = pool.submit(() -> shared.listen(new GrantListener() {
                    @Override
                    public void lost(LossReason reason) {
                        losses.incrementAndGet();
                    }

                    @Override
                    public void wanted() {}
                }));
                signal.get();
                listen.get();
                assertThat(losses.get()).isPositive();
            }
        } finally {
            pool.shutdownNow();
        }
    }

    private static final class TestGrant extends AbstractGrant {
        TestGrant(long token, long validUntilNanos) {
            super(token, validUntilNanos);
        }

        @Override
        public CompletionStage<Boolean> release(Duration blockAtMost) {
            return CompletableFuture.completedFuture(true);
        }
    }
}
