package dev.lockstep.memory;

import static dev.lockstep.memory.Clients.assertBusy;
import static dev.lockstep.memory.Clients.assertWaits;
import static dev.lockstep.memory.Clients.downgrade;
import static dev.lockstep.memory.Clients.granted;
import static dev.lockstep.memory.Clients.isWanted;
import static dev.lockstep.memory.Clients.release;
import static dev.lockstep.memory.Clients.withdraw;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.LockMode;
import dev.lockstep.spi.Claim;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** The order of the queue. */
class QueueTest extends EngineTest {
    @Nested
    class Exclusive {
        @Test
        void aFreeLockIsGrantedInsideTheCall() {
            Claim claim = a.exclusive("x");
            assertThat(granted(claim).token()).isPositive();
            assertThat(granted(claim).validUntilNanos() - time.nanoTime()).isPositive();
            assertThat(claim.outcome()).isSameAs(claim.outcome());
            assertThat(release(claim)).isCompletedWithValue(true);
        }

        @Test
        void anUnusedNameTakesNoMemory() {
            for (int i = 0; i < 100; i++) {
                release(a.exclusive("x" + i));
                release(a.shared("x" + i));
            }
            Claim held = a.exclusive("x");
            Claim waiting = b.exclusive("x");
            release(held);
            release(waiting);
            assertThat(engine.lockCount()).isZero();
        }

        @Test
        void waitersAreServedInOrderOfArrival() {
            Claim held = a.exclusive("x");
            Claim first = b.exclusive("x");
            Claim second = c.exclusive("x");
            Claim third = a.exclusive("x");
            assertWaits(first, second, third);

            release(held);
            granted(first);
            assertWaits(second, third);
            release(first);
            granted(second);
            assertWaits(third);
            release(second);
            granted(third);
        }

        @Test
        void aClaimThatMayNotWaitIsRefusedAndLeavesNothing() {
            Claim held = a.exclusive("x");
            assertBusy(b.tryExclusive("x"));
            assertBusy(b.tryShared("x"));
            assertThat(isWanted(held)).isFalse();
            release(held);
            assertThat(engine.lockCount()).isZero();
        }

        @Test
        void aClientHasToWaitForItsOwnGrantToo() {
            Claim held = a.exclusive("x");
            assertBusy(a.tryExclusive("x"));
            Claim waiting = a.exclusive("x");
            assertWaits(waiting);
            release(held);
            granted(waiting);
        }

        @Test
        void locksAndNamespacesAreIndependent() {
            granted(a.exclusive("x"));
            granted(b.exclusive("y"));
        }

        @Test
        void aBargingClaimDoesNotOvertakeSinceTheLockIsHandedToTheHead() {
            Claim held = a.exclusive("x");
            Claim waiting = b.exclusive("x");
            Claim barging = c.submit("x", LockMode.EXCLUSIVE, true, true);
            release(held);
            granted(waiting);
            assertWaits(barging);
        }

        @Test
        void tokensRise() {
            long last = 0;
            for (int i = 0; i < 10; i++) {
                Claim one = a.exclusive("x");
                Claim other = b.exclusive("x");
                assertThat(granted(one).token()).isGreaterThan(last);
                release(one);
                last = granted(other).token();
                assertThat(last).isGreaterThan(granted(one).token());
                release(other);
            }
        }
    }

    @Nested
    class Shared {
        @Test
        void readersHoldTogetherAndKeepWritersOut() {
            Claim one = a.shared("x");
            Claim two = b.shared("x");
            granted(one);
            granted(two);
            assertBusy(c.tryExclusive("x"));

            release(one);
            assertBusy(c.tryExclusive("x"));
            release(two);
            granted(c.tryExclusive("x"));
        }

        @Test
        void readersBehindAWaitingWriterWait() {
            Claim reader = a.shared("x");
            Claim writer = b.exclusive("x");
            Claim late = c.shared("x");
            assertWaits(writer, late);
            assertBusy(c.tryShared("x"));

            release(reader);
            granted(writer);
            assertWaits(late);
            release(writer);
            granted(late);
        }

        @Test
        void consecutiveReadersAtTheHeadAreGrantedTogether() {
            Claim writer = a.exclusive("x");
            Claim one = b.shared("x");
            Claim two = c.shared("x");
            Claim nextWriter = b.exclusive("x");
            Claim three = c.shared("x");

            release(writer);
            granted(one);
            granted(two);
            assertWaits(nextWriter, three);

            release(one);
            assertWaits(nextWriter, three);
            release(two);
            granted(nextWriter);
            assertWaits(three);
        }

        @Test
        void readersMayFollowWhenTheWriterBeforeThemGivesUp() {
            Claim reader = a.shared("x");
            Claim writer = b.exclusive("x");
            Claim late = c.shared("x");

            assertThat(withdraw(writer)).isCompleted();

            granted(reader);
            granted(late);
        }

        @Test
        void tokensOfReadersAreBetweenThoseOfWriters() {
            Claim before = a.exclusive("x");
            Claim reader = b.shared("x");
            Claim other = c.shared("x");
            Claim after = a.exclusive("x");
            release(before);
            release(reader);
            release(other);

            assertThat(granted(reader).token())
                    .isGreaterThan(granted(before).token())
                    .isLessThan(granted(after).token());
            assertThat(granted(other).token()).isLessThan(granted(after).token());
        }
    }

    @Nested
    class Downgrade {
        @Test
        void aDowngradedGrantLetsReadersInButNoWriter() {
            Claim held = a.exclusive("x");
            Claim reader = b.shared("x");
            Claim writer = c.exclusive("x");
            long token = granted(held).token();

            assertThat(downgrade(held)).isCompletedWithValue(true);

            assertThat(granted(held).token()).isEqualTo(token);
            assertThat(granted(reader).token()).isGreaterThan(token);
            assertWaits(writer);
            release(held);
            release(reader);
            assertThat(granted(writer).token()).isGreaterThan(granted(reader).token());
        }

        @Test
        void itGoesBeforeAnExclusiveClaimThatWaits() {
            Claim held = a.exclusive("x");
            Claim writer = b.exclusive("x");
            Claim reader = c.shared("x");
            assertThat(downgrade(held)).isCompletedWithValue(true);
            assertWaits(writer, reader);
            assertThat(release(held)).isCompletedWithValue(true);
            granted(writer);
        }

        @Test
        void aRevokedGrantCannotBeDowngraded() {
            Claim held = a.exclusive("x");
            engine.revoke("x");
            assertThat(downgrade(held)).isCompletedWithValue(false);
        }
    }

    @Nested
    class GivingUp {
        @Test
        void aWithdrawnClaimIsNeverGranted() {
            Claim held = a.exclusive("x");
            Claim gone = b.exclusive("x");
            Claim next = c.exclusive("x");
            assertThat(withdraw(gone)).isCompleted();
            release(held);
            assertWaits(gone);
            granted(next);
        }

        @Test
        void aGrantThatRacedTheWithdrawalIsReleased() {
            Claim atOnce = a.exclusive("x");
            withdraw(atOnce);
            Claim held = b.exclusive("x");
            granted(held);
            Claim waiting = a.exclusive("x");
            release(held);
            granted(waiting);
            assertThat(withdraw(waiting)).isCompleted();
            granted(c.tryExclusive("x"));
        }

        @Test
        void withdrawingAgainDoesNothing() {
            Claim atOnce = a.exclusive("x");
            withdraw(atOnce);
            granted(b.exclusive("x"));
            assertThat(withdraw(atOnce)).isCompleted();
            assertBusy(c.tryExclusive("x"));
        }

        @Test
        void theSecondReleaseFailsCleanly() {
            Claim held = a.exclusive("x");
            assertThat(release(held)).isCompletedWithValue(true);
            Claim next = b.exclusive("x");
            assertThat(release(held)).isCompletedWithValue(false);
            assertThat(isWanted(next)).isFalse();
            assertBusy(c.tryExclusive("x"));
        }
    }
}
