package dev.lockstep.spi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.LossReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

class AbstractGrantTest {
    private final List<String> heard = new ArrayList<>();
    private final GrantListener listener = new GrantListener() {
        @Override
        public void lost(Grant grant, LossReason reason) {
            heard.add(reason.name());
        }

        @Override
        public void wanted(Grant grant) {
            heard.add("wanted");
        }
    };
    private final AbstractGrant grant = new TestGrant(listener, 7, 100);

    @Test
    void hasItsTokenAndItsDeadline() {
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
        AbstractGrant late = new TestGrant(listener, 1, Long.MAX_VALUE - 10);
        late.renewedUntil(Long.MIN_VALUE + 10);
        assertThat(late.validUntilNanos()).isEqualTo(Long.MIN_VALUE + 10);
    }

    @Test
    void onlyTheFirstLossCounts() {
        assertThat(grant.isLost()).isFalse();

        grant.signalLost(LossReason.REVOKED);
        grant.signalLost(LossReason.EXPIRED);

        assertThat(grant.isLost()).isTrue();
        assertThat(heard).containsExactly("REVOKED");
    }

    @Test
    void aWishIsReportedOnce() {
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
    void anEngineThatAddsNothingGivesNothing() {
        assertThat(grant.unwrap(AbstractGrant.class)).isEmpty();
    }

    private static final class TestGrant extends AbstractGrant {
        TestGrant(GrantListener listener, long token, long validUntilNanos) {
            super(listener, token, validUntilNanos);
        }

        @Override
        public CompletionStage<Boolean> release(Duration blockAtMost) {
            return CompletableFuture.completedFuture(true);
        }
    }
}
