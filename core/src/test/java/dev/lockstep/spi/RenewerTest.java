package dev.lockstep.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.LossReason;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** The items that are renewed, the times of their renewals, and their end. */
class RenewerTest extends RenewerFixture {
    private static final Duration A_MOMENT = Duration.ofMillis(20);

    @Nested
    class Ticks {
        @Test
        void everyThirdOfTheTtlEachItemIsRenewedFromItsSendTime() {
            Item item = registered();

            time.advance(PERIOD.minusNanos(1));
            assertThat(sent).isEmpty();

            time.advance(Duration.ofNanos(1));
            assertThat(sent).containsExactly(List.of(item));
            assertThat(item.validUntilNanos).isEqualTo(Renewer.deadline(time.nanoTime(), TTL));

            time.advance(PERIOD.multipliedBy(3));
            assertThat(sent).hasSize(4);
        }

        @Test
        void validityCountsFromTheSendNotFromTheReply() {
            answering = false;
            Item item = registered();
            time.advance(PERIOD);
            long sentAt = time.nanoTime();

            time.advance(Duration.ofSeconds(2));
            unanswered.get(0).complete(List.of());

            assertThat(item.validUntilNanos).isEqualTo(Renewer.deadline(sentAt, TTL));
        }

        @Test
        void afterAPauseThereIsOneTickAndNotAllThatWereMissed() {
            registered();
            time.pause(PERIOD.multipliedBy(10));
            assertThat(sent).hasSize(1);
            time.advance(PERIOD.minusNanos(1));
            assertThat(sent).hasSize(1);
            time.advance(Duration.ofNanos(1));
            assertThat(sent).hasSize(2);
        }

        @Test
        void noTimerBeforeTheFirstItemNorAfterTheLast() {
            assertThat(time.pending()).isZero();
            Item item = registered();
            assertThat(time.pending()).isOne();
            renewer.unregister(item);
            time.advance(PERIOD);
            assertThat(time.pending()).isZero();
            assertThat(sent).isEmpty();

            registered();
            time.advance(PERIOD);
            assertThat(sent).hasSize(1);
        }

        @Test
        void oneTimerServesManyItems() {
            IntStream.range(0, 1000).forEach(i -> registered());
            assertThat(time.pending()).isOne();
        }

        @Test
        void batchesAreNoLargerThanAllowed() {
            IntStream.range(0, 25).forEach(i -> registered());
            time.advance(PERIOD);
            assertThat(sent).extracting(List::size).containsExactly(10, 10, 5);
            assertThat(sent.stream().flatMap(List::stream).distinct()).hasSize(25);
        }

        @Test
        void anItemTooNearItsDeadlineForTheNextTickIsRenewedSoon() {
            Item late = registeredLate();
            assertThat(sent).isEmpty();

            time.advance(A_MOMENT);

            assertThat(sent).containsExactly(List.of(late));
            assertThat(late.validUntilNanos)
                    .isGreaterThan(time.nanoTime() + PERIOD.multipliedBy(2).toNanos());
        }

        @Test
        void anItemThatIsUnregisteredSoonIsNotRenewed() {
            renewer.unregister(registeredLate());
            time.advance(A_MOMENT);
            assertThat(sent).isEmpty();
        }

        private Item registeredLate() {
            Item late = new Item(time.nanoTime() + PERIOD.dividedBy(3).toNanos());
            renewer.register(late);
            return late;
        }

        @Test
        void anItemWithLittleTimeLeftIsRenewedAtOnce() {
            Item late = new Item(time.nanoTime() + Duration.ofMillis(900).toNanos());

            renewer.register(late);

            assertThat(sent).containsExactly(List.of(late));
            assertThat(late.validUntilNanos).isEqualTo(Renewer.deadline(time.nanoTime(), TTL));
        }

        @Test
        void aBatchSizeBelowOneIsRefused() {
            assertThatThrownBy(() ->
                            new Renewer<>(Contexts.of("client", time), 0, LossReason.REVOKED, RenewerTest.this::renew))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Nested
    class Gone {
        @Test
        void itemsThatTheEngineNoLongerHasAreSignalledLostAndForgotten() {
            Item lost = registered();
            Item kept = registered();
            gone.add(lost);

            time.advance(PERIOD);
            assertThat(lost.lost).isEqualTo(LossReason.REVOKED);
            assertThat(kept.lost).isNull();

            sent.clear();
            time.advance(PERIOD);
            assertThat(sent).containsExactly(List.of(kept));
        }

        @Test
        void aReplyAfterTheUnregisterChangesNothing() {
            answering = false;
            Item released = registered();
            long validUntil = released.validUntilNanos;
            Item releasedAndGone = registered();
            time.advance(PERIOD);

            renewer.unregister(released);
            renewer.unregister(releasedAndGone);
            unanswered.get(0).complete(List.of(releasedAndGone));

            assertThat(released.validUntilNanos).isEqualTo(validUntil);
            assertThat(releasedAndGone.lost).isNull();
            time.advance(TTL);
            assertThat(sent).hasSize(1);
            assertThat(time.pending()).isZero();
        }

        @Test
        void aReplyToAnEarlierRegistrationDoesNotTouchALaterOne() {
            answering = false;
            Item item = registered();
            time.advance(PERIOD);
            renewer.unregister(item);
            renewer.register(item);

            unanswered.get(0).complete(List.of(item));
            assertThat(item.lost).isNull();

            answering = true;
            time.advance(PERIOD);
            assertThat(sent).hasSize(2);
        }

        @Test
        void aLossMayRegisterASuccessor() {
            Item successor = item();
            Item first = new Item(Renewer.deadline(time.nanoTime(), TTL)) {
                @Override
                public void signalLost(LossReason reason) {
                    renewer.register(successor);
                }
            };
            renewer.register(first);
            gone.add(first);
            time.advance(PERIOD);
            sent.clear();
            time.advance(PERIOD);
            assertThat(sent).containsExactly(List.of(successor));
        }
    }

    @Test
    void closeStopsTicksRetriesAndRepliesForGood() {
        failure = new IllegalStateException("no answer");
        Item item = registered();
        time.advance(PERIOD);

        renewer.close();
        assertThat(time.pending()).isZero();

        renewer.register(item);
        time.advance(TTL);
        assertThat(sent).hasSize(1);
        assertThat(time.pending()).isZero();
    }
}
