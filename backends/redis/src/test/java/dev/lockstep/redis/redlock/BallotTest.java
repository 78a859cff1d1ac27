package dev.lockstep.redis.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.redis.redlock.Ballot.Answer;
import dev.lockstep.redis.redlock.Ballot.Mark;
import dev.lockstep.redis.redlock.Ballot.Vote;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The conclusions of a claim from the servers' answers. */
class BallotTest {
    private static final String OWN = "client-1.7";

    private static Vote has(long seen, long micros) {
        return new Vote(Mark.CONFIRMING, new Answer(Mark.CONFIRMING, seen, micros, 0, ""), true);
    }

    private static Vote marked(Mark mark) {
        return new Vote(mark, Answer.NONE, true);
    }

    private static Vote young() {
        return new Vote(Mark.CONFIRMED, Answer.NONE, false);
    }

    private static Vote takenBy(String owner, long freeInMillis) {
        return new Vote(Mark.WAITS, new Answer(Mark.WAITS, 0, 0, freeInMillis, owner), true);
    }

    private static Ballot ballot(Vote... votes) {
        return new Ballot(List.of(votes));
    }

    private static Ballot ballot(Mark... marks) {
        return new Ballot(Stream.of(marks).map(BallotTest::marked).toList());
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "3, 2", "4, 3", "5, 3", "6, 4", "7, 4"})
    void aMajorityIsMoreThanHalf(int servers, int majority) {
        assertThat(new Ballot(Stream.generate(() -> marked(Mark.ASKED))
                                .limit(servers)
                                .toList())
                        .majority())
                .isEqualTo(majority);
    }

    @Nested
    class Token {
        @Test
        void isAboveAllThatTheMajorityRemembers() {
            assertThat(ballot(has(10, 3), has(12, 4), marked(Mark.ASKED)).token())
                    .isEqualTo(13);
        }

        @Test
        void isNotBelowTheirClocks() {
            assertThat(ballot(has(10, 3), has(12, 4_000), marked(Mark.ASKED)).token())
                    .isEqualTo(4_000);
        }

        @Test
        void isNotDrawnWithoutAMajority() {
            assertThat(ballot(has(10, 3), marked(Mark.ASKED), marked(Mark.ASKED))
                            .token())
                    .isZero();
            assertThat(ballot(has(10, 3), has(12, 3), marked(Mark.BUSY), marked(Mark.BUSY))
                            .token())
                    .isZero();
        }

        @Test
        void doesNotDependOnServersOfOtherHolders() {
            Vote other = new Vote(Mark.REFUSED, new Answer(Mark.REFUSED, 99, 99, -1, ""), true);
            assertThat(ballot(has(1, 2), has(2, 2), other).token()).isEqualTo(3);
        }
    }

    @Nested
    class Winning {
        @Test
        void takesAMajorityOfWrittenTokens() {
            assertThat(ballot(Mark.CONFIRMED, Mark.CONFIRMED, Mark.ASKED).isWon())
                    .isTrue();
            assertThat(ballot(Mark.CONFIRMED, Mark.CONFIRMING, Mark.CONFIRMING).isWon())
                    .isFalse();
            assertThat(ballot(Mark.CONFIRMED, Mark.CONFIRMED, Mark.ASKED, Mark.ASKED)
                            .isWon())
                    .isFalse();
        }

        @Test
        void doesNotCountServersWithoutAVote() {
            Ballot ballot = ballot(marked(Mark.CONFIRMED), young(), young());
            assertThat(ballot.isWon()).isFalse();
            assertThat(ballot.young()).isEqualTo(2);
            assertThat(ballot.isLost()).isTrue();
        }

        @Test
        void twoWinnersShareAServer() {
            // Whatever sets of servers two claims win with, one server confirmed both: so the later token is higher.
            int servers = 5;
            for (int first = 0; first < 1 << servers; first++) {
                for (int second = 0; second < 1 << servers; second++) {
                    if (wonBy(first, servers) && wonBy(second, servers)) {
                        assertThat(first & second).isNotZero();
                    }
                }
            }
        }

        private boolean wonBy(int set, int servers) {
            Mark[] marks = new Mark[servers];
            for (int i = 0; i < servers; i++) {
                marks[i] = (set >> i & 1) == 1 ? Mark.CONFIRMED : Mark.BUSY;
            }
            return ballot(marks).isWon();
        }
    }

    @Nested
    class Losing {
        @Test
        void isCertainWhenTooFewServersAreLeft() {
            assertThat(ballot(Mark.BUSY, Mark.BUSY, Mark.ASKED).isLost()).isTrue();
            assertThat(ballot(Mark.BUSY, Mark.ASKED, Mark.CONFIRMING).isLost()).isFalse();
        }

        @Test
        void waitsForAMajorityOfAnswersSoThatAHeldLockIsKnown() {
            assertThat(ballot(Mark.FAILED, Mark.FAILED, Mark.ASKED).isLost()).isFalse();
            assertThat(ballot(Mark.FAILED, Mark.FAILED, Mark.BUSY).isLost()).isTrue();
            assertThat(ballot(Mark.FAILED, Mark.FAILED, Mark.FAILED).isLost()).isTrue();
        }

        @Test
        void failuresOfAMinorityAreNotTooMany() {
            Ballot five = ballot(Mark.FAILED, Mark.FAILED, Mark.ASKED, Mark.ASKED, Mark.ASKED);
            assertThat(five.isTooMany(2)).isFalse();
            assertThat(five.isTooMany(3)).isTrue();
            assertThat(five.isAnsweredByMajority()).isFalse();
            assertThat(five.isHeardByMajority()).isFalse();
        }
    }

    @Nested
    class Others {
        @Test
        void oneThatHasAMajorityHolds() {
            assertThat(ballot(takenBy("a", 1), takenBy("a", 1), has(1, 1)).isHeldByAnother(OWN))
                    .isTrue();
            assertThat(ballot(takenBy("a", 1), takenBy("b", 1), has(1, 1)).isHeldByAnother(OWN))
                    .isFalse();
        }

        @Test
        void oneThatGoesByTwoIdsIsOne() {
            assertThat(ballot(takenBy("a", 1), takenBy("a/1", 1), has(1, 1)).isHeldByAnother(OWN))
                    .isTrue();
        }

        @Test
        void aKeyOfThisClaimUnderAnEarlierIdIsItsOwn() {
            assertThat(ballot(takenBy(OWN + "/1", 1), takenBy(OWN, 1), has(1, 1))
                            .isHeldByAnother(OWN))
                    .isFalse();
        }

        @Test
        void aMajorityIsFreeWhenEnoughServersAre() {
            assertThat(ballot(takenBy("a", 300), takenBy("a", 100), takenBy("a", 200))
                            .freeInMillis())
                    .isEqualTo(200);
            assertThat(ballot(takenBy("a", 300), takenBy("a", -1), marked(Mark.FAILED))
                            .freeInMillis())
                    .isNegative();
        }
    }

    @Test
    void validityCountsFromTheFirstRequestAndHasAMargin() {
        long sent = Long.MAX_VALUE - 5;
        Duration ttl = Duration.ofSeconds(10);
        long left = Ballot.validUntilNanos(sent, ttl) - sent;
        assertThat(Duration.ofNanos(left))
                .isLessThan(ttl)
                .isGreaterThan(ttl.multipliedBy(98).dividedBy(100));
    }

    @Test
    void repliesAreUnderstood() {
        assertThat(Answer.of(List.of(1L, 41L, 42L))).isEqualTo(new Answer(Mark.CONFIRMING, 41, 42, 0, ""));
        assertThat(Answer.of(List.of(0L, 7L, "a".getBytes(StandardCharsets.UTF_8))))
                .isEqualTo(new Answer(Mark.WAITS, 0, 0, 7, "a"));
        assertThat(Answer.of(List.of(-1L, -1L, new byte[0]))).isEqualTo(new Answer(Mark.BUSY, 0, 0, -1, ""));
        assertThat(Answer.of(List.of(-2L)).mark()).isEqualTo(Mark.REFUSED);
    }
}
