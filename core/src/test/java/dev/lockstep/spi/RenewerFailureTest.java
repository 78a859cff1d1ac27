package dev.lockstep.spi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.LossReason;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What a renewer does while the engine fails or keeps silent. */
class RenewerFailureTest extends RenewerFixture {
    @Test
    void aFailedBatchIsTriedAgainWithBackoffUntilItSucceeds() {
        failure = new IllegalStateException("no answer");
        Item item = registered();
        time.advance(PERIOD);
        assertThat(sent).hasSize(1);

        time.advance(Duration.ofMillis(20));
        assertThat(sent).hasSize(2);
        time.advance(TTL);
        assertThat(sent).as("about one a second at the longest backoff").hasSizeBetween(25, 80);

        failure = null;
        time.advance(Duration.ofSeconds(1));
        assertThat(item.validUntilNanos - time.nanoTime())
                .isGreaterThan(TTL.minusSeconds(2).toNanos());
        int settled = sent.size();
        time.advance(Duration.ofSeconds(1));
        assertThat(sent).as("no retry after the success").hasSize(settled);
    }

    @Test
    void anActionThatThrowsIsAFailure() {
        Renewer<Item> throwing = new Renewer<>(Contexts.of("client", time), 10, LossReason.REVOKED, batch -> {
            sent.add(batch);
            throw new IllegalStateException("no connection");
        });
        throwing.register(item());
        time.advance(PERIOD.plusMillis(20));
        assertThat(sent).hasSize(2);
    }

    @Test
    void whileABatchWaitsForItsReplyTicksDoNotSendItAgain() {
        answering = false;
        registered();
        time.advance(PERIOD);
        answering = true;
        Item other = registered();

        time.advance(PERIOD);

        assertThat(sent.get(1)).containsExactly(other);
    }

    @Test
    void aBatchThatIsNeverAnsweredIsTakenOver() {
        answering = false;
        Item item = registered();
        time.advance(PERIOD);
        answering = true;

        time.advance(TTL);

        assertThat(item.validUntilNanos - time.nanoTime()).isPositive();
    }

    @Test
    void anItemPastItsDeadlineStaysUntilItIsUnregistered() {
        failure = new IllegalStateException("no answer");
        Item item = registered();
        time.advance(TTL.multipliedBy(2));
        assertThat(item.lost).isNull();

        renewer.unregister(item);
        time.advance(TTL);
        assertThat(time.pending()).isZero();
    }
}
