package dev.lockstep.spi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.LossReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The renewer while the engine fails or is silent. */
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

    /** A cluster's servers answer each for their own locks. */
    @Test
    void onlyWhatWasNotRenewedCountsAsFailedAndIsTriedAgain() {
        List<Integer> failed = new ArrayList<>();
        BackendContext context = Contexts.of("client", time).withRequests(new RequestObserver() {
            @Override
            public void ended(String kind, long beginNanos, @Nullable Throwable failure) {}

            @Override
            public void renewalFailed(int size, Throwable failure) {
                failed.add(size);
            }
        });
        List<Item> items = List.of(item(), item(), item());
        Renewer<Item> partial = new Renewer<>(context, 10, LossReason.REVOKED, batch -> {
            sent.add(batch);
            batch.stream()
                    .filter(item -> item != items.get(2))
                    .forEach(item -> item.renewedUntil(Renewer.deadline(time.nanoTime(), TTL)));
            return CompletableFuture.failedFuture(new IllegalStateException("one server is away"));
        });
        items.forEach(partial::register);

        time.advance(PERIOD);
        assertThat(failed).containsExactly(1);
        time.advance(Duration.ofMillis(20));
        assertThat(sent.get(1)).containsExactly(items.get(2));
        assertThat(failed).containsExactly(1, 1);

        time.advance(PERIOD);
        assertThat(sent).anySatisfy(batch -> assertThat(batch).containsExactlyInAnyOrder(items.get(0), items.get(1)));
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
