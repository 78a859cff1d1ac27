package dev.lockstep.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** How often waiters look, by a clock that the test turns. */
class PaceTest {
    private static final long MILLI = 1_000_000;
    private static final long SECOND = 1_000 * MILLI;

    /** Counts the looks of a claim at a place, for a time in which nothing changes. */
    private static int looksWhileNothingChanges(long ahead, long nanos) {
        Pace pace = new Pace(0);
        int looks = 0;
        for (long now = pace.delayNanos(0, ahead); now < nanos; now += pace.delayNanos(now, ahead)) {
            pace.seen(now, "owner", "head", 1);
            looks++;
        }
        return looks;
    }

    @Test
    void theHeadLooksOftenAndTheOthersTheLessTheFartherTheyAre() {
        long before = Long.MAX_VALUE;
        for (long ahead : new long[] {0, 1, 3, 9}) {
            int looks = looksWhileNothingChanges(ahead, 60 * SECOND);
            assertThat((long) looks).as("%d ahead", ahead).isLessThan(before);
            before = looks;
        }
        assertThat(looksWhileNothingChanges(0, 60 * SECOND)).isBetween(600, 60 * 15);
        assertThat(looksWhileNothingChanges(9, 60 * SECOND)).isBetween(60, 60 * 2);
        assertThat(looksWhileNothingChanges(99, 60 * SECOND)).isBetween(60, 60 * 2);
    }

    /** A read by the primary key takes a server and its client less than a tenth of a millisecond together. */
    @Test
    void aHundredWaitersOfALockThatNobodyReleasesLookLessThanTwoHundredTimesASecond() {
        int looks = 0;
        for (int ahead = 0; ahead < 100; ahead++) {
            looks += looksWhileNothingChanges(ahead, 60 * SECOND);
        }
        assertThat(looks / 60).isBetween(100, 200);
    }

    @Test
    void theHeadIsLateByAQuarterOfTheHoldAtMost() {
        for (long hold : new long[] {20 * MILLI, 100 * MILLI, 10 * SECOND}) {
            Pace pace = new Pace(0);
            long now = 0;
            pace.seen(now, "owner", "head", 1);
            while (now < hold) {
                now += pace.delayNanos(now, 0);
                pace.seen(now, "owner", "head", 1);
            }
            assertThat(now - hold).isLessThanOrEqualTo(Math.min(hold / 4, 100 * MILLI));
        }
    }

    /** Whatever the length of a queue that moves, a claim looks a few times until it is the head, and is there in time. */
    @Test
    void aClaimLooksAFewTimesWhileTheQueueMovesOn() {
        for (long place : new long[] {3 * MILLI, 20 * MILLI, 60 * MILLI}) {
            for (long ticket : new long[] {2, 8, 64}) {
                Pace pace = new Pace(0);
                long turn = (ticket - 1) * place;
                long now = 0;
                int looks = 0;
                while (now < turn) {
                    long head = 1 + now / place;
                    pace.seen(now, "owner-" + head, "head-" + head, head);
                    now += pace.delayNanos(now, ticket - head);
                    looks++;
                }
                assertThat(looks).as("looks at %d ns for a place", place).isLessThanOrEqualTo(30);
                assertThat(now - turn)
                        .as("how late after %d places of %d ns", ticket, place)
                        .isLessThanOrEqualTo(Math.max(place, 4 * MILLI));
            }
        }
    }
}
