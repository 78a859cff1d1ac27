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
import org.junit.jupiter.api.Test;

class AbstractGrantTest {
    private final AbstractGrant grant = new TestGrant(7, 100);

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
        assertThat(grant.isLost()).isFalse();
        assertThat(grant.lost()).isNotDone();
        assertThat(grant.isLost()).isFalse();

        grant.signalLost(LossReason.REVOKED);
        grant.signalLost(LossReason.EXPIRED);

        assertThat(grant.isLost()).isTrue();
        assertThat(grant.lost()).isCompletedWithValue(LossReason.REVOKED);
    }

    @Test
    void aSignalBeforeTheQuestionIsAnswered() {
        grant.signalWanted();
        grant.signalWanted();
        grant.signalLost(LossReason.SESSION_ENDED);

        assertThat(grant.wanted()).isCompleted();
        assertThat(grant.lost()).isCompletedWithValue(LossReason.SESSION_ENDED);
    }

    @Test
    void aQuestionBeforeTheSignalIsAnsweredByTheSameStage() {
        CompletableFuture<Void> wanted = grant.wanted();
        assertThat(wanted).isNotDone().isSameAs(grant.wanted());
        grant.signalWanted();
        assertThat(wanted).isCompleted();
    }

    @Test
    void aGrantStaysExclusiveWhereTheEngineCannotDowngrade() {
        assertThat(grant.downgrade().toCompletableFuture()).isCompletedWithValue(false);
    }

    @Test
    void manyThreadsAgreeOnStagesAndDeadline() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(4);
        try {
            for (int round = 0; round < 500; round++) {
                AbstractGrant shared = new TestGrant(1, 0);
                List<Future<CompletableFuture<LossReason>>> asked = new ArrayList<>();
                for (int i = 0; i < 4; i++) {
                    long deadline = i + 1L;
                    asked.add(pool.submit(() -> {
                        shared.renewedUntil(deadline);
                        shared.signalLost(LossReason.EXPIRED);
                        return shared.lost();
                    }));
                }
                for (Future<CompletableFuture<LossReason>> one : asked) {
                    assertThat(one.get()).isSameAs(shared.lost());
                }
                assertThat(shared.validUntilNanos()).isEqualTo(4);
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
