package dev.lockstep.memory;

import static dev.lockstep.memory.Clients.assertBusy;
import static dev.lockstep.memory.Clients.assertWaits;
import static dev.lockstep.memory.Clients.downgrade;
import static dev.lockstep.memory.Clients.granted;
import static dev.lockstep.memory.Clients.isWanted;
import static dev.lockstep.memory.Clients.lost;
import static dev.lockstep.memory.Clients.release;
import static dev.lockstep.memory.Clients.withdraw;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import dev.lockstep.LossReason;
import dev.lockstep.memory.Clients.Client;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.VirtualScheduler;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Who gets the lock, and when, while nothing goes wrong. */
class QueueTest {
    private final VirtualScheduler time = new VirtualScheduler();
    private final MemoryEngine engine = new MemoryEngine();
    private final Client a = Clients.open(engine, "a", time);
    private final Client b = Clients.open(engine, "b", time);
    private final Client c = Clients.open(engine, "c", time);

    @AfterEach
    void nothingIsLeftBehind() {
        a.close();
        b.close();
        c.close();
        assertThat(engine.lockCount()).isZero();
        assertThat(engine.sessionCount()).isZero();
        assertThat(time.pending()).isZero();
    }

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
        void aNameThatNobodyUsesTakesNoMemory() {
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
    class Wanted {
        @Test
        void aGrantIsWantedAsSoonAsAnotherClientWaits() {
            Claim held = a.exclusive("x");
            assertThat(isWanted(held)).isFalse();
            b.exclusive("x");
            assertThat(isWanted(held)).isTrue();
        }

        @Test
        void aGrantIsWantedFromTheBeginningIfAnotherClientWaits() {
            Claim held = a.exclusive("x");
            Claim next = b.exclusive("x");
            c.exclusive("x");
            List<Boolean> wantedWhenGranted = new ArrayList<>();
            next.outcome().thenRun(() -> wantedWhenGranted.add(isWanted(next)));
            release(held);
            assertThat(wantedWhenGranted).containsExactly(true);
        }

        @Test
        void theLastOfTheQueueIsNotWanted() {
            Claim held = a.exclusive("x");
            Claim next = b.exclusive("x");
            release(held);
            assertThat(isWanted(next)).isFalse();
        }

        @Test
        void ownClaimsDoNotMakeAGrantWanted() {
            Claim held = a.shared("x");
            Claim own = a.exclusive("x");
            assertThat(isWanted(held)).isFalse();
            release(held);
            a.exclusive("x");
            assertThat(isWanted(own)).isFalse();
            b.exclusive("x");
            assertThat(isWanted(own)).isTrue();
        }

        @Test
        void everyReaderThatKeepsAWriterOutIsWanted() {
            Claim one = a.shared("x");
            Claim two = b.shared("x");
            Claim three = c.shared("x");
            c.exclusive("x");
            assertThat(isWanted(one)).isTrue();
            assertThat(isWanted(two)).isTrue();
            assertThat(isWanted(three)).as("its own client's claim").isFalse();
        }

        @Test
        void readersServedTogetherDoNotWantEachOther() {
            Claim writer = a.exclusive("x");
            Claim one = b.shared("x");
            Claim two = c.shared("x");
            release(writer);
            assertThat(isWanted(one)).isFalse();
            assertThat(isWanted(two)).isFalse();
        }

        @Test
        void aClaimThatGaveUpNoLongerMakesGrantsWanted() {
            Claim held = a.exclusive("x");
            Claim next = b.exclusive("x");
            withdraw(c.exclusive("x"));
            release(held);
            assertThat(isWanted(next)).isFalse();
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
        void aGrantThatWasTakenAwayCannotBeDowngraded() {
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
        void aGrantThatRacedTheWithdrawalIsGivenBack() {
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

    @Nested
    class Operators {
        @Test
        void inspectTellsHoldersAndWaitersInOrder() {
            Claim held = a.exclusive("x");
            b.shared("x");
            c.exclusive("x");

            LockInfo info = a.backend().inspect("x").toCompletableFuture().join();

            assertThat(info.holders()).singleElement().satisfies(entry -> {
                assertThat(entry.mode()).isEqualTo(LockMode.EXCLUSIVE);
                assertThat(entry.token()).hasValue(granted(held).token());
                assertThat(entry.holder().client()).isEqualTo("a");
            });
            assertThat(info.waiters())
                    .extracting(entry -> entry.holder().client())
                    .containsExactly("b", "c");
            assertThat(info.waiters())
                    .allSatisfy(entry -> assertThat(entry.token()).isEmpty());
        }

        @Test
        void inspectOfAnUnusedNameIsEmptyAndLeavesNothing() {
            LockInfo info = a.backend().inspect("x").toCompletableFuture().join();
            assertThat(info).isEqualTo(new LockInfo("x", List.of(), List.of()));
            assertThat(engine.lockCount()).isZero();
        }

        @Test
        void listFindsLocksByPrefix() {
            a.exclusive("order:1");
            b.shared("order:2");
            b.exclusive("stock:1");
            assertThat(c.backend().list("order:").toCompletableFuture().join())
                    .extracting(LockInfo::name)
                    .containsExactlyInAnyOrder("order:1", "order:2");
            assertThat(c.backend().list("").toCompletableFuture().join()).hasSize(3);
        }

        @Test
        void aForcedReleaseTellsTheHolderBeforeItServesTheNext() {
            Claim held = a.exclusive("x");
            Claim next = b.exclusive("x");
            List<String> order = new ArrayList<>();
            lost(held).thenAccept(reason -> order.add("lost: " + reason));
            next.outcome().thenRun(() -> order.add("granted"));

            assertThat(c.backend().forceRelease("x").toCompletableFuture()).isCompletedWithValue(true);

            assertThat(order).containsExactly("lost: " + LossReason.REVOKED, "granted");
            assertThat(release(held)).isCompletedWithValue(false);
            assertThat(granted(next).token()).isGreaterThan(granted(held).token());
        }

        @Test
        void aForcedReleaseEndsEveryReader() {
            Claim one = a.shared("x");
            Claim two = b.shared("x");
            Claim writer = c.exclusive("x");
            assertThat(engine.revoke("x")).isTrue();
            assertThat(lost(one)).isCompletedWithValue(LossReason.REVOKED);
            assertThat(lost(two)).isCompletedWithValue(LossReason.REVOKED);
            granted(writer);
        }

        @Test
        void aForcedReleaseOfAFreeLockIsFalse() {
            assertThat(a.backend().forceRelease("x").toCompletableFuture()).isCompletedWithValue(false);
            assertThat(engine.lockCount()).isZero();
        }

        @Test
        void theHolderMayReleaseWhileItLearnsOfItsLoss() {
            Claim held = a.exclusive("x");
            Claim next = b.exclusive("x");
            List<Boolean> released = new ArrayList<>();
            lost(held).thenRun(() -> released.add(release(held).join()));
            engine.revoke("x");
            assertThat(released).containsExactly(false);
            granted(next);
        }
    }
}
