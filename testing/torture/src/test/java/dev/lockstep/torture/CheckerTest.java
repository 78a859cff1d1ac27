package dev.lockstep.torture;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Isolated("one test measures time")
class CheckerTest {
    private static final long SETTLE = 10;

    private final History history = new History();

    private Verdict check() {
        return new Checker(history, SETTLE).check();
    }

    private int writer(long asked, long entered, long certain, long exited, long token) {
        return section(0, false, false, asked, entered, certain, exited, token);
    }

    private int reader(long asked, long entered, long certain, long exited, long token) {
        return section(0, true, false, asked, entered, certain, exited, token);
    }

    private int fair(boolean shared, long asked, long queued, long entered, long exited) {
        int section = section(0, shared, true, asked, entered, exited, exited, entered);
        history.queued(section, queued);
        return section;
    }

    private int section(
            int lock, boolean shared, boolean fair, long asked, long entered, long certain, long exited, long token) {
        int section = history.ask(7, lock, shared, fair, asked);
        history.entered(section, entered, token);
        history.certain(section, certain);
        history.exited(section, exited);
        return section;
    }

    private void permits(int client, int permits, long entered, long certain) {
        int section = history.askPermits(client, 0, permits, 3, 1);
        history.entered(section, entered, 0);
        history.certain(section, certain);
        history.exited(section, certain);
    }

    private void faultOn(int client, int lock, long from, long until, Rule... excuses) {
        history.add(new FaultWindow("fault", "target", client, lock, Set.of(excuses), from, until, true));
    }

    private void fault(long from, long until, Rule... excuses) {
        history.add(new FaultWindow(
                "fault", "target", FaultWindow.ALL, FaultWindow.ALL, Set.of(excuses), from, until, true));
    }

    @Nested
    class Permits {
        @Test
        void asManyAsTheLimitAreAllowed() {
            permits(1, 2, 2, 9);
            permits(2, 1, 3, 9);
            permits(3, 3, 9, 12);
            assertThat(check().holds()).isTrue();
            assertThat(check().checked(Rule.PERMITS)).isEqualTo(3);
            assertThat(check().checked(Rule.EXCLUSION)).isZero();
        }

        @Test
        void oneMoreIsAViolation() {
            permits(1, 2, 2, 9);
            permits(2, 1, 3, 9);
            permits(3, 1, 8, 12);
            assertThat(check().broken(Rule.PERMITS)).isEqualTo(1);
        }

        @Test
        void aSectionWithoutACertainLeaseDoesNotCount() {
            permits(1, 3, 2, 9);
            permits(2, 1, 3, History.NEVER);
            assertThat(check().holds()).isTrue();
        }

        @Test
        void aFaultExcusesOnlyAffectedSections() {
            faultOn(1, 0, 1, 4, Rule.EXCLUSION);
            permits(1, 1, 2, 9);
            permits(2, 3, 3, 9);
            assertThat(check().holds()).isTrue();
            assertThat(check().excused(Rule.PERMITS)).isEqualTo(1);
            permits(3, 1, 4, 9);
            assertThat(check().broken(Rule.PERMITS)).isEqualTo(1);
        }
    }

    @Nested
    class Exclusion {
        @Test
        void oneAfterTheOtherIsAllowed() {
            writer(1, 2, 5, 5, 1);
            writer(1, 6, 9, 9, 2);
            assertThat(check().holds()).isTrue();
            assertThat(check().overlapsAfterLease()).isZero();
        }

        @Test
        void twoWithinTheirLeasesAreNot() {
            writer(1, 2, 7, 8, 1);
            writer(1, 6, 9, 9, 2);
            assertThat(check().broken(Rule.EXCLUSION)).isEqualTo(1);
        }

        @Test
        void stayingBeyondTheLeaseIsNoViolation() {
            writer(1, 2, 5, 8, 1);
            writer(1, 6, 9, 9, 2);
            assertThat(check().holds()).isTrue();
            assertThat(check().overlapsAfterLease()).isEqualTo(1);
        }

        @Test
        void aSectionWithoutACertainLeaseIsNoEvidence() {
            writer(1, 2, 9, 9, 1);
            writer(1, 6, History.NEVER, 9, 2);
            assertThat(check().holds()).isTrue();
        }

        @Test
        void aLongHoldIsNotForgottenForAShortOneAfterIt() {
            writer(1, 2, 50, 50, 1);
            writer(1, 10, 11, 11, 2);
            writer(1, 20, 21, 21, 3);
            assertThat(check().broken(Rule.EXCLUSION)).isEqualTo(2);
        }

        @Test
        void readersShare() {
            reader(1, 2, 9, 9, 1);
            reader(1, 3, 9, 9, 1);
            assertThat(check().holds()).isTrue();
        }

        @Test
        void readersAndWritersDoNot() {
            reader(1, 2, 9, 9, 1);
            writer(1, 3, 4, 4, 2);
            reader(1, 20, 21, 21, 5);
            writer(1, 30, 39, 39, 6);
            reader(1, 35, 36, 36, 7);
            assertThat(check().broken(Rule.EXCLUSION)).isEqualTo(2);
        }

        @Test
        void locksHaveNothingToDoWithEachOther() {
            section(0, false, false, 1, 2, 9, 9, 1);
            section(1, false, false, 1, 3, 9, 9, 1);
            assertThat(check().holds()).isTrue();
        }

        @Test
        void isExcusedWhereTheEngineDoesNotPromiseIt() {
            fault(1, 2, Rule.EXCLUSION);
            writer(1, 2, 7, 8, 1);
            writer(1, 6, 9, 9, 2);
            assertThat(check().holds()).isTrue();
            assertThat(check().excused(Rule.EXCLUSION)).isEqualTo(1);
        }

        @Test
        void isNotExcusedByAFaultThatHasSettledOrThatExcusesOtherThings() {
            fault(1, 2, Rule.EXCLUSION);
            fault(50, 51, Rule.TOKENS);
            writer(1, 52, 57, 58, 1);
            writer(1, 56, 59, 59, 2);
            assertThat(check().broken(Rule.EXCLUSION)).isEqualTo(1);
        }

        @Test
        void isExcusedOnlyForTheLockThatWasHurt() {
            faultOn(FaultWindow.ALL, 1, 1, 2, Rule.EXCLUSION);
            for (int lock = 0; lock < 2; lock++) {
                section(lock, false, false, 1, 2, 7, 8, 1);
                section(lock, false, false, 1, 6, 9, 9, 2);
            }
            assertThat(check().broken(Rule.EXCLUSION)).isEqualTo(1);
            assertThat(check().excused(Rule.EXCLUSION)).isEqualTo(1);
        }

        @Test
        void isExcusedOnlyIfOneOfTheTwoWasHurt() {
            faultOn(1, FaultWindow.ALL, 1, 2, Rule.EXCLUSION);
            overlap(0, 1, 2);
            overlap(1, 2, 1);
            overlap(2, 2, 3);
            assertThat(check().broken(Rule.EXCLUSION)).isEqualTo(1);
            assertThat(check().excused(Rule.EXCLUSION)).isEqualTo(2);
        }

        private void overlap(int lock, int client, int other) {
            inside(client, lock, 2, 8);
            inside(other, lock, 6, 8);
        }

        @Test
        void anExcusedSectionThatStaysLongerHidesNoOther() {
            faultOn(1, FaultWindow.ALL, 1, 2, Rule.EXCLUSION);
            inside(1, 0, 2, 20);
            inside(2, 0, 3, 10);
            inside(3, 0, 6, 8);
            assertThat(check().excused(Rule.EXCLUSION)).isEqualTo(1); // client 2 with client 1
            assertThat(check().broken(Rule.EXCLUSION)).isEqualTo(1); // client 3 with client 2
        }

        private void inside(int client, int lock, long entered, long certain) {
            int section = history.ask(client, lock, false, false, 1);
            history.entered(section, entered, entered);
            history.certain(section, certain);
            history.exited(section, certain);
        }

        @Test
        void onlySectionsWithThePromiseCountAsChecked() {
            fault(20, 21, Rule.EXCLUSION);
            writer(1, 2, 5, 5, 1);
            writer(1, 6, History.NEVER, 9, 2); // proves nothing
            writer(1, 22, 25, 25, 3);
            writer(1, 32, 35, 35, 4);
            assertThat(check().checked(Rule.EXCLUSION)).isEqualTo(2);
            assertThat(check().checked(Rule.TOKENS)).isEqualTo(3);
        }
    }

    @Nested
    class Tokens {
        @Test
        void aWritersTokenIsAboveAllBefore() {
            writer(1, 2, 3, 3, 5);
            writer(1, 4, 5, 5, 5);
            assertThat(check().broken(Rule.TOKENS)).isEqualTo(1);
        }

        @Test
        void aReadersTokenIsAboveThatOfWritersBeforeItAndBelowThatOfWritersAfterIt() {
            writer(1, 2, 3, 3, 5);
            reader(1, 4, 5, 5, 5);
            reader(1, 6, 7, 7, 9);
            writer(1, 8, 9, 9, 8);
            assertThat(check().broken(Rule.TOKENS)).isEqualTo(2);
        }

        @Test
        void readersHaveNoOrderAmongThemselves() {
            reader(1, 2, 3, 3, 5);
            reader(1, 4, 5, 5, 4);
            assertThat(check().holds()).isTrue();
        }

        @Test
        void anOldTokenThatComesLateWasGrantedEarly() {
            writer(1, 8, 9, 9, 6);
            writer(2, 10, History.NEVER, 11, 5);
            assertThat(check().holds()).isTrue();
        }

        @Test
        void anOldTokenThatWasAskedForLateIsAViolation() {
            writer(1, 8, 9, 9, 6);
            writer(9, 10, History.NEVER, 11, 5);
            assertThat(check().broken(Rule.TOKENS)).isEqualTo(1);
        }

        @Test
        void aMissingTokenIsNoViolation() {
            writer(1, 8, 9, 9, 6);
            writer(9, 10, History.NEVER, 11, 0);
            assertThat(check().holds()).isTrue();
        }

        private int of(int client, long asked, long entered, long token) {
            return of(client, false, asked, entered, entered + 1, token);
        }

        private int of(int client, boolean shared, long asked, long entered, long exited, long token) {
            return of(0, client, shared, asked, entered, exited, token);
        }

        private int of(int lock, int client, boolean shared, long asked, long entered, long exited, long token) {
            int section = history.ask(client, lock, shared, false, asked);
            history.entered(section, entered, token);
            history.exited(section, exited);
            return section;
        }

        @Test
        void anOldTokenIsExcusedWhereTwoMayBeInside() {
            fault(1, 2, Rule.EXCLUSION);
            writer(1, 3, 4, 4, 5);
            writer(2, 5, 6, 6, 4); // granted before the other, which was served first
            assertThat(check().holds()).isTrue();
            assertThat(check().excused(Rule.TOKENS)).isEqualTo(1);
        }

        @Test
        void anOldGrantMayBeHandedOnWhereTwoMayBeInside() {
            fault(1, 2, Rule.EXCLUSION);
            of(1, 1, 2, 5 * 1024 + 1);
            of(2, 1, 4, 6 * 1024 + 1);
            of(1, 5, 6, 5 * 1024 + 2); // by a client that has not heard yet
            assertThat(check().holds()).isTrue();
            assertThat(check().excused(Rule.TOKENS)).isEqualTo(1);
        }

        @Test
        void anOldGrantMayBeUsedFirstAfterTheNext() {
            fault(1, 8, Rule.EXCLUSION);
            of(2, 1, 4, 6 * 1024 + 1);
            of(1, 1, 5, 5 * 1024 + 1);
            of(1, 6, 7, 5 * 1024 + 2);
            assertThat(check().holds()).isTrue();
            assertThat(check().excused(Rule.TOKENS)).isEqualTo(1);
        }

        @Test
        void anOldGrantOfACallThatGaveUpMayBeHandedOn() {
            fault(1, 8, Rule.EXCLUSION);
            gaveUp(1, 2, 7, false);
            of(2, 1, 4, 6 * 1024 + 1);
            of(1, 6, 7, 5 * 1024 + 1);
            assertThat(check().holds()).isTrue();
            assertThat(check().excused(Rule.TOKENS)).isEqualTo(1);
        }

        @Test
        void aGrantIsNotHandedOnFromEarlierFairOrForeignCallsThatGaveUp() {
            fault(1, 8, Rule.EXCLUSION);
            gaveUp(1, 1, 3, false);
            gaveUp(1, 1, 7, true);
            gaveUp(3, 1, 7, false);
            of(2, 1, 4, 6 * 1024 + 1);
            of(1, 6, 7, 5 * 1024 + 1);
            assertThat(check().broken(Rule.TOKENS)).isEqualTo(1);
        }

        @Test
        void aReaderMayUseWhatAWriterAskedForThatGaveUp() {
            fault(1, 8, Rule.EXCLUSION);
            gaveUp(1, 3, 8, false);
            of(2, true, 1, 2, 6, 7 * 1024 + 1); // readers have no order among themselves
            of(3, 1, 4, 6 * 1024 + 1);
            of(1, true, 6, 7, 8, 5 * 1024 + 1);
            assertThat(check().holds()).isTrue();
            assertThat(check().excused(Rule.TOKENS)).isEqualTo(1);
        }

        @Test
        void aGrantMayBeHandedOnAfterAHoldLostBeforeItsTokenWasKnown() {
            fault(1, 8, Rule.EXCLUSION);
            of(1, false, 1, 2, 7, 0);
            of(2, 1, 4, 6 * 1024 + 1);
            of(1, 5, 6, 5 * 1024 + 1);
            assertThat(check().holds()).isTrue();
            assertThat(check().excused(Rule.TOKENS)).isEqualTo(1);
        }

        @ParameterizedTest
        @CsvSource({"0, false", "2, true"}) // the third of each four locks is sticky
        void aGrantMayBeKeptMeanwhileOnlyIfTheLockIsSticky(int lock, boolean holds) {
            fault(1, 8, Rule.EXCLUSION);
            of(lock, 1, false, 1, 2, 3, 0);
            of(lock, 2, false, 1, 4, 5, 6 * 1024 + 1);
            of(lock, 1, false, 5, 6, 7, 5 * 1024 + 1);
            assertThat(check().holds()).isEqualTo(holds);
            assertThat(check().broken(Rule.TOKENS)).isEqualTo(holds ? 0 : 1);
        }

        @Test
        void aGrantMayNotBeHandedOnByASectionWithAnotherGrant() {
            fault(1, 8, Rule.EXCLUSION);
            of(1, false, 1, 2, 7, 4 * 1024 + 1);
            of(2, 1, 4, 6 * 1024 + 1);
            of(1, 5, 6, 5 * 1024 + 1);
            assertThat(check().broken(Rule.TOKENS)).isEqualTo(1);
        }

        private void gaveUp(int client, long asked, long exited, boolean fair) {
            history.exited(history.ask(client, 0, false, fair, asked), exited);
        }

        @Test
        void aNewGrantHasANewTokenEvenWhereTwoMayBeInside() {
            fault(1, 2, Rule.EXCLUSION);
            of(1, 1, 2, 4 * 1024 + 1);
            of(2, 1, 4, 6 * 1024 + 1);
            of(1, 5, 6, 5 * 1024 + 1);
            of(3, 7, 8, 4 * 1024 + 2); // a grant of another client
            assertThat(check().broken(Rule.TOKENS)).isEqualTo(2);
        }

        @Test
        void anOldGrantMayNotBeHandedOnWhereTwoMayNotBeInside() {
            of(1, 1, 2, 5 * 1024 + 1);
            of(2, 1, 4, 6 * 1024 + 1);
            of(1, 5, 6, 5 * 1024 + 2);
            assertThat(check().broken(Rule.TOKENS)).isEqualTo(1);
        }
    }

    @Nested
    class FirstComeFirstServed {
        @Test
        void anEarlierWaiterIsServedFirst() {
            fair(false, 1, 2, 5, 6);
            fair(false, 3, 4, 7, 8);
            assertThat(check().holds()).isTrue();
        }

        @Test
        void aLaterWaiterIsNotServedFirst() {
            fair(false, 1, 2, 7, 8);
            fair(false, 3, 4, 5, 6);
            assertThat(check().broken(Rule.ORDER)).isEqualTo(1);
        }

        @Test
        void anArrivalThatMayPrecedeTheOtherIsInOrder() {
            fair(false, 1, 4, 7, 8);
            fair(false, 3, 4, 5, 6);
            assertThat(check().holds()).isTrue();
        }

        @Test
        void noReaderPassesAWaitingWriterAndNoWriterAWaitingReader() {
            fair(false, 1, 2, 7, 8);
            fair(true, 3, 4, 5, 6);
            fair(true, 11, 12, 17, 18);
            fair(false, 13, 14, 15, 16);
            assertThat(check().broken(Rule.ORDER)).isEqualTo(2);
        }

        @Test
        void readersPassReaders() {
            fair(true, 1, 2, 7, 8);
            fair(true, 3, 4, 5, 6);
            assertThat(check().broken(Rule.ORDER)).isZero();
        }

        @Test
        void aFaultCanCostAPlace() {
            fair(false, 1, 2, 7, 8);
            fair(false, 3, 4, 5, 6);
            fault(2, 3);
            assertThat(check().holds()).isTrue();
        }

        @Test
        void aFaultOfAnotherClientOrLockCannot() {
            fair(false, 1, 2, 7, 8);
            fair(false, 3, 4, 5, 6);
            faultOn(8, FaultWindow.ALL, 2, 3);
            faultOn(FaultWindow.ALL, 1, 2, 3);
            assertThat(check().broken(Rule.ORDER)).isEqualTo(1);
            assertThat(check().checked(Rule.ORDER)).isEqualTo(2);
            faultOn(7, 0, 2, 3);
            assertThat(check().holds()).isTrue();
            assertThat(check().checked(Rule.ORDER)).isZero();
        }

        /** The end of a session or lease takes a client's holds and its places in queues at once. */
        @Test
        void whoLosesAHoldCanLoseAPlace() {
            fair(false, 1, 2, 7, 8);
            ofOther(8, 3, 4, 5);
            lost(7, 1, 2, 3, 4);
            assertThat(check().holds()).isTrue();
            assertThat(check().checked(Rule.ORDER)).isEqualTo(1);
        }

        @Test
        void aHoldLostByAnotherClientCostsNoPlace() {
            fair(false, 1, 2, 7, 8);
            ofOther(8, 3, 4, 5);
            lost(8, 1, 2, 3, 4);
            assertThat(check().broken(Rule.ORDER)).isEqualTo(1);
        }

        @Test
        void aHoldLostToAFaultOfItsLockCostsNoPlaceElsewhere() {
            fair(false, 1, 2, 7, 8);
            ofOther(8, 3, 4, 5);
            lost(7, 1, 2, 3, 4);
            faultOn(FaultWindow.ALL, 1, 3, 3);
            assertThat(check().broken(Rule.ORDER)).isEqualTo(1);
        }

        @Test
        void aHoldLostLongBeforeCostsNoPlace() {
            lost(7, 1, 2, 3, 4);
            fair(false, 101, 102, 107, 108);
            ofOther(8, 103, 104, 105);
            assertThat(check().broken(Rule.ORDER)).isEqualTo(1);
        }

        private void ofOther(int client, long asked, long queued, long entered) {
            int section = history.ask(client, 0, false, true, asked);
            history.queued(section, queued);
            history.entered(section, entered, entered);
            history.certain(section, entered + 1);
            history.exited(section, entered + 1);
        }

        /** A section of another lock, whose lease was valid at one time and no more at the next. */
        private void lost(int client, int lock, long entered, long certain, long ended) {
            int section = history.ask(client, lock, false, false, entered);
            history.entered(section, entered, 1);
            history.certain(section, certain);
            history.ended(section, ended);
            history.exited(section, ended);
        }

        @Test
        void aFaultThatHasSettledCannot() {
            fault(1, 2);
            fair(false, 101, 102, 107, 108);
            fair(false, 103, 104, 105, 106);
            assertThat(check().broken(Rule.ORDER)).isEqualTo(1);
        }
    }

    /** Nearly in order, as histories are, on eight locks, with faults, old tokens and one section that lies in another. */
    @Test
    @Timeout(60)
    void tenMillionSectionsTakeLessThanAMinute() {
        int count = Integer.getInteger("torture.sections", 1_000_000);
        Random random = new Random(1);
        long[] free = new long[8];
        for (int i = 0; i < count; i++) {
            int lock = random.nextInt(free.length);
            boolean fair = lock == 0;
            long entered = free[lock] + 1 + random.nextInt(100);
            long exited = entered + 1 + random.nextInt(100);
            boolean old = i % 1_000 == 999 && !fair;
            int section = history.ask(
                    random.nextInt(4), lock, random.nextInt(3) == 0, fair, Math.max(1, entered - (old ? 0 : 500)));
            history.entered(section, entered, 1_024L * (old ? i / 2 : i + 1));
            history.certain(section, exited);
            history.exited(section, exited);
            history.queued(section, fair ? entered - 1 : History.NEVER);
            free[lock] = exited;
            if (i % 10_000 == 0) {
                faultOn(FaultWindow.ALL, 1 + random.nextInt(free.length - 1), entered, entered + 1_000, Rule.EXCLUSION);
            }
        }
        long last = free[3] + SETTLE + 1_000;
        section(3, false, false, last, last + 10, last + 90, last + 90, 1_024L * (count + 1));
        section(3, false, false, last, last + 50, last + 51, last + 51, 1_024L * (count + 2));
        Verdict verdict = check();
        assertThat(verdict.broken(Rule.EXCLUSION)).isEqualTo(1);
        assertThat(verdict.broken(Rule.ORDER)).isZero();
        assertThat(verdict.broken(Rule.TOKENS)).isPositive();
        assertThat(verdict.excused(Rule.TOKENS)).isPositive();
    }
}
