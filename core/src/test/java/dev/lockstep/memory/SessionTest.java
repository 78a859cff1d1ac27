package dev.lockstep.memory;

import static dev.lockstep.memory.Clients.assertBusy;
import static dev.lockstep.memory.Clients.assertWaits;
import static dev.lockstep.memory.Clients.granted;
import static dev.lockstep.memory.Clients.isWanted;
import static dev.lockstep.memory.Clients.lost;
import static dev.lockstep.memory.Clients.outcome;
import static dev.lockstep.memory.Clients.release;
import static dev.lockstep.memory.Clients.withdraw;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lockstep.LockUnavailableException;
import dev.lockstep.LossReason;
import dev.lockstep.memory.Clients.Client;
import dev.lockstep.memory.MemoryEngine.Outage;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.VirtualScheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Grants and claims while their session lives, dies, or is closed. */
class SessionTest extends EngineTest {
    @Nested
    class Renewal {
        @Test
        void aLiveClientKeepsItsGrantsIndefinitely() {
            Claim held = a.exclusive("x");
            for (int i = 0; i < 100; i++) {
                time.advance(TTL.dividedBy(2));
                assertThat(granted(held).validUntilNanos() - time.nanoTime()).isPositive();
            }
            assertBusy(b.tryExclusive("x"));
            assertThat(release(held)).isCompletedWithValue(true);
        }

        @Test
        void afterAPauseAFreshGrantIsValid() {
            time.pause(TTL.multipliedBy(3));
            Claim late = a.exclusive("x");
            assertThat(granted(late).validUntilNanos() - time.nanoTime()).isPositive();
        }

        @Test
        void tenThousandGrantsCostOneRenewal() {
            for (int i = 0; i < 10_000; i++) {
                granted(a.exclusive("x" + i));
            }
            assertThat(time.pending())
                    .as("a timer for each client, and the engine's")
                    .isLessThanOrEqualTo(4);
        }
    }

    @Nested
    class Expiry {
        @Test
        void theHolderKnowsBeforeTheEngineGrantsAgain() {
            Claim held = a.exclusive("x");
            Claim next = b.exclusive("x");
            engine.disconnect("a", Outage.REQUESTS_LOST);

            while (!outcome(next).isDone()) {
                assertThat(time.nanoTime() - granted(held).validUntilNanos()).isLessThan(TTL.toNanos());
                time.advance(Duration.ofMillis(100));
            }
            assertThat(granted(held).validUntilNanos() - time.nanoTime()).isNegative();
            assertThat(granted(next).token()).isGreaterThan(granted(held).token());
        }

        @Test
        void aDeadClientsGrantIsFreeWithinItsTtl() {
            a.exclusive("x");
            Claim next = b.exclusive("x");
            engine.disconnect("a", Outage.REQUESTS_LOST);
            time.advance(TTL);
            granted(next);
        }

        @Test
        void aDeadHeadOfTheQueueLetsItsSuccessorPass() {
            Claim held = a.exclusive("x");
            b.exclusive("x");
            Claim successor = c.exclusive("x");
            engine.disconnect("b", Outage.REQUESTS_LOST);
            time.advance(TTL);
            release(held);
            granted(successor);
        }

        @Test
        void aReleaseAfterExpirySaysThatTheLockWasLost() {
            Claim held = a.exclusive("x");
            engine.disconnect("a", Outage.REQUESTS_LOST);
            time.advance(TTL);
            Claim next = b.exclusive("x");
            granted(next);

            engine.reconnect("a");

            assertThat(lost(held)).isCompletedWithValue(LossReason.SESSION_ENDED);
            assertThat(release(held)).isCompletedWithValue(false);
            assertBusy(c.tryExclusive("x"));
        }

        @Test
        void aClientThatLivesQueuesAgainInANewSession() {
            Claim held = b.exclusive("x");
            Claim first = a.exclusive("x");
            Claim second = a.exclusive("x");
            Claim other = c.exclusive("x");
            engine.disconnect("a", Outage.REQUESTS_LOST);
            time.advance(TTL);
            engine.reconnect("a");
            assertWaits(first, second, other);

            release(held);
            granted(other);
            assertThat(isWanted(other)).isTrue();
            release(other);
            assertThat(granted(first).validUntilNanos() - time.nanoTime()).isPositive();
            assertWaits(second);
            release(first);
            granted(second);
        }
    }

    @Nested
    class SimulatedLoss {
        @Test
        void theHolderIsNotifiedBeforeTheNextIsServed() {
            Claim held = a.exclusive("x");
            Claim next = b.exclusive("x");
            List<String> order = new ArrayList<>();
            lost(held).thenAccept(reason -> order.add("lost: " + reason));
            next.outcome().thenRun(() -> order.add("granted"));

            engine.expireSession("a");

            assertThat(order).containsExactly("lost: " + LossReason.SESSION_ENDED, "granted");
            assertThat(release(held)).isCompletedWithValue(false);
        }

        @Test
        void everythingOfTheSessionEndsAndTheClientContinues() {
            List<Claim> held = List.of(a.exclusive("x"), a.shared("y"), a.exclusive("z"));
            Claim waiting = b.exclusive("z");

            engine.expireSession("a");

            assertThat(held).allSatisfy(claim -> assertThat(lost(claim)).isCompleted());
            granted(waiting);
            Claim again = a.exclusive("x");
            assertThat(granted(again).token())
                    .isGreaterThan(granted(held.get(0)).token());
            time.advance(TTL.multipliedBy(3));
            assertThat(granted(again).validUntilNanos() - time.nanoTime()).isPositive();
        }

        @Test
        void waitingClaimsAreQueuedAgain() {
            Claim held = b.exclusive("x");
            Claim waiting = a.exclusive("x");
            engine.expireSession("a");
            assertWaits(waiting);
            release(held);
            granted(waiting);
        }

        @Test
        void aWithdrawnClaimIsNotQueuedAgain() {
            Claim held = b.exclusive("x");
            Claim gone = a.exclusive("x");
            withdraw(gone);
            engine.expireSession("a");
            release(held);
            assertThat(engine.lockCount()).isZero();
        }

        @Test
        void aClaimThatArrivesInASessionThatEndedUnknownToTheClientDoesNotStay() {
            engine.disconnect("a", Outage.REPLIES_LOST);
            engine.expireSession("a");
            Claim claim = a.exclusive("x");
            Claim refused = a.tryShared("x");
            assertThat(engine.lockCount()).isZero();

            engine.reconnect();

            granted(claim);
            assertBusy(refused);
        }

        @Test
        void aClientThatIsNotOpenIsAnError() {
            assertThatThrownBy(() -> engine.expireSession("nobody"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("nobody");
        }

        @Test
        void aClientIsAlsoKnownByItsId() {
            Claim held = a.exclusive("x");
            engine.expireSession(a.context().clientId());
            assertThat(lost(held)).isCompleted();
        }
    }

    @Nested
    class Close {
        @Test
        void everythingOfTheClientIsReleasedAndItsClaimsFail() {
            Claim held = a.exclusive("x");
            Claim next = b.exclusive("x");
            Claim own = a.shared("x");

            a.close();

            assertThat(lost(held)).isCompletedWithValue(LossReason.CLIENT_CLOSED);
            assertThat(outcome(own)).isCompletedExceptionally();
            granted(next);
            assertThat(release(held)).isCompletedWithValue(false);
            assertThat(withdraw(own)).isCompleted();
        }

        @Test
        void aClosedClientGetsNothing() {
            a.close();
            a.close();
            assertThat(outcome(a.exclusive("x"))).isCompletedExceptionally();
            assertThat(outcome(a.tryShared("x"))).isCompletedExceptionally();
            assertThat(a.backend().ping().toCompletableFuture()).isCompletedExceptionally();
            assertThat(engine.lockCount()).isZero();
        }

        @Test
        void aClientThatClosesInAnOutageIsFreedByItsTtl() {
            Claim held = a.exclusive("x");
            Claim next = b.exclusive("x");
            engine.disconnect("a", Outage.REQUESTS_LOST);

            a.close();

            assertThat(lost(held)).isCompletedWithValue(LossReason.CLIENT_CLOSED);
            assertWaits(next);
            time.advance(TTL);
            granted(next);
            assertThat(engine.sessionCount()).isEqualTo(2);
        }

        @Test
        void theEnginesClockContinuesWhenTheClientThatDroveItCloses() {
            VirtualScheduler others = new VirtualScheduler(time.nanoTime());
            Client other = Clients.open(engine, "other", others);
            other.exclusive("x");
            a.close();
            b.close();
            c.close();
            engine.disconnect("other", Outage.REQUESTS_LOST);
            others.advance(TTL);
            assertThat(engine.lockCount()).isZero();
            engine.reconnect();
            other.close();
            assertThat(others.pending()).isZero();
        }

        @Test
        void aLockThatExpiredWithoutClientsIsFreeForTheNext() {
            a.exclusive("x");
            engine.disconnect("a", Outage.REQUESTS_LOST);
            a.close();
            b.close();
            c.close();
            time.advance(TTL);
            assertThat(engine.sessionCount()).isOne();

            try (Client next = Clients.open(engine, "next", time)) {
                granted(next.tryExclusive("x"));
            }
        }

        @Test
        void unansweredRequestsFail() {
            Claim held = a.exclusive("x");
            engine.disconnect("a", Outage.REQUESTS_LOST);
            var release = release(held);
            var ping = a.backend().ping().toCompletableFuture();
            a.close();
            assertThatThrownBy(release::join).hasCauseInstanceOf(LockUnavailableException.class);
            assertThatThrownBy(ping::join).hasCauseInstanceOf(LockUnavailableException.class);
            time.advance(TTL);
        }
    }
}
