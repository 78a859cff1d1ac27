package dev.lockstep.memory;

import static dev.lockstep.memory.Clients.assertBusy;
import static dev.lockstep.memory.Clients.assertWaits;
import static dev.lockstep.memory.Clients.downgrade;
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
import dev.lockstep.memory.MemoryEngine.Outage;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.Contexts;
import dev.lockstep.spi.Outcome;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A slow engine, and one that cannot be reached. */
class OutageTest extends EngineTest {
    private static final Duration SHORT = Duration.ofSeconds(1);

    @Nested
    class Slow {
        @Test
        void theReplyComesLateButTheLockIsTakenAtOnce() {
            engine.delayReplies("a", SHORT);
            Claim claim = a.exclusive("x");
            assertWaits(claim);
            assertBusy(b.tryExclusive("x"));

            time.advance(SHORT);

            granted(claim);
            CompletableFuture<Boolean> released = release(claim);
            assertThat(released).isNotDone();
            granted(b.tryExclusive("x"));
            time.advance(SHORT);
            assertThat(released).isCompletedWithValue(true);
        }

        @Test
        void aRefusalComesLateToo() {
            a.exclusive("x");
            engine.delayReplies(SHORT);
            Claim claim = b.tryExclusive("x");
            assertWaits(claim);
            time.advance(SHORT);
            assertBusy(claim);
        }

        @Test
        void pushesComeLate() {
            Claim held = a.exclusive("x");
            engine.delayReplies("a", SHORT);
            b.exclusive("x");
            assertThat(isWanted(held)).isFalse();
            time.advance(SHORT);
            assertThat(isWanted(held)).isTrue();
        }

        @Test
        void aClaimWithdrawnBeforeItsReplyIsReleased() {
            engine.delayReplies("a", SHORT);
            Claim claim = a.exclusive("x");
            CompletableFuture<Void> gone = withdraw(claim);
            assertThat(engine.lockCount()).isZero();
            time.advance(SHORT);
            assertThat(gone).isCompleted();
            assertWaits(claim);
        }

        @Test
        void aWaitingClaimIsContactToo() {
            a.exclusive("x");
            engine.delayReplies("b", SHORT);
            time.advance(Duration.ofSeconds(3));
            long sent = time.nanoTime();
            b.exclusive("x");
            assertThat(b.backend().lastContactNanos() - sent).isNegative();
            time.advance(SHORT);
            assertThat(b.backend().lastContactNanos()).isEqualTo(sent);
        }

        @Test
        void grantsStayValidWhileRenewalsAreSlow() {
            Claim held = a.exclusive("x");
            engine.delayReplies(SHORT);
            time.advance(TTL.multipliedBy(4));
            assertThat(granted(held).validUntilNanos() - time.nanoTime()).isPositive();
        }

        @Test
        void anEngineSlowerThanTheRequestTimeoutDoesNotAnswer() {
            engine.delayReplies(Contexts.REQUEST_TIMEOUT.multipliedBy(2));
            CompletableFuture<Void> ping = a.backend().ping().toCompletableFuture();
            time.advance(Contexts.REQUEST_TIMEOUT);
            assertThatThrownBy(ping::join).hasCauseInstanceOf(LockUnavailableException.class);
        }
    }

    @Nested
    class Unreachable {
        @ParameterizedTest
        @EnumSource(Outage.class)
        void aClaimIsAnsweredWhenTheOutageIsOver(Outage kind) {
            engine.disconnect("a", kind);
            Claim claim = a.exclusive("x");
            assertWaits(claim);
            assertThat(engine.lockCount()).isEqualTo(kind == Outage.REPLIES_LOST ? 1 : 0);

            time.advance(SHORT);
            engine.reconnect("a");

            assertThat(granted(claim).validUntilNanos() - time.nanoTime()).isPositive();
            assertBusy(b.tryExclusive("x"));
            assertThat(release(claim)).isCompletedWithValue(true);
        }

        @ParameterizedTest
        @EnumSource(Outage.class)
        void aLongOutageDoesNotEndAClaim(Outage kind) {
            engine.disconnect("a", kind);
            Claim claim = a.exclusive("x");
            time.advance(TTL.multipliedBy(3));
            assertWaits(claim);
            engine.reconnect();
            assertThat(granted(claim).validUntilNanos() - time.nanoTime()).isPositive();
            assertThat(lost(claim)).isNotDone();
        }

        @ParameterizedTest
        @EnumSource(Outage.class)
        void aWithdrawnClaimLeavesNothing(Outage kind) {
            engine.disconnect("a", kind);
            Claim claim = a.exclusive("x");
            CompletableFuture<Void> gone = withdraw(claim);
            assertThat(gone).isNotDone();

            engine.reconnect();

            assertThat(gone).isCompleted();
            assertWaits(claim);
            assertThat(engine.lockCount()).isZero();
        }

        @Test
        void aWithdrawalIsDoneAfterTheTtlWithoutAnAnswer() {
            b.exclusive("x");
            Claim claim = a.exclusive("x");
            engine.disconnect("a", Outage.REQUESTS_LOST);
            CompletableFuture<Void> gone = withdraw(claim);
            time.advance(TTL.minusNanos(1));
            assertThat(gone).isNotDone();
            time.advance(Duration.ofNanos(1));
            assertThat(gone).isCompleted();
            assertThat(a.backend()).satisfies(backend -> engine.reconnect());
            assertWaits(claim);
        }

        @ParameterizedTest
        @EnumSource(Outage.class)
        void aReleaseIsConfirmedWhenTheOutageIsOver(Outage kind) {
            Claim held = a.exclusive("x");
            engine.disconnect("a", kind);
            CompletableFuture<Boolean> released = release(held);
            assertThat(released).isNotDone();
            assertThat(engine.lockCount()).isEqualTo(kind == Outage.REPLIES_LOST ? 0 : 1);

            engine.reconnect();

            assertThat(released).isCompletedWithValue(true);
            assertThat(engine.lockCount()).isZero();
        }

        @Test
        void aReleaseWithoutAnAnswerForTheTtlIsUnknown() {
            Claim held = a.exclusive("x");
            engine.disconnect("a", Outage.REQUESTS_LOST);
            CompletableFuture<Boolean> released = release(held);
            time.advance(TTL);
            assertThatThrownBy(released::join).hasCauseInstanceOf(LockUnavailableException.class);
            granted(b.tryExclusive("x"));
        }

        @Test
        void aLossInTheOutageIsReportedAfterwards() {
            Claim held = a.exclusive("x");
            engine.disconnect("a", Outage.REPLIES_LOST);
            engine.revoke("x");
            assertThat(lost(held)).isNotDone();
            engine.reconnect();
            assertThat(lost(held)).isCompletedWithValue(LossReason.REVOKED);
        }

        @Test
        void aGrantRevokedBeforeItWasKnownIsClaimedAgain() {
            Claim held = b.exclusive("x");
            Claim claim = a.exclusive("x");
            engine.disconnect("a", Outage.REPLIES_LOST);
            release(held);
            engine.revoke("x");
            engine.reconnect();
            assertThat(lost(claim)).isNotDone();
            assertBusy(c.tryExclusive("x"));
        }

        @Test
        void wantedIsRepeatedAfterwards() {
            Claim held = a.exclusive("x");
            engine.disconnect("a", Outage.REPLIES_LOST);
            b.exclusive("x");
            assertThat(isWanted(held)).isFalse();
            engine.reconnect();
            assertThat(isWanted(held)).isTrue();
        }

        @Test
        void aWaitingClaimGrantedInTheOutageIsReportedAfterwards() {
            Claim held = b.exclusive("x");
            Claim waiting = a.exclusive("x");
            engine.disconnect("a", Outage.REPLIES_LOST);
            release(held);
            assertWaits(waiting);
            assertBusy(c.tryExclusive("x"));
            engine.reconnect();
            granted(waiting);
        }

        @Test
        void aDowngradeWithoutAnAnswerIsUnknownAndNotDoneLater() {
            Claim held = a.exclusive("x");
            engine.disconnect("a", Outage.REQUESTS_LOST);
            CompletableFuture<Boolean> downgraded = downgrade(held);
            time.advance(Contexts.REQUEST_TIMEOUT);
            assertThatThrownBy(downgraded::join).hasCauseInstanceOf(LockUnavailableException.class);
            engine.reconnect();
            assertBusy(b.tryShared("x"));
        }

        @Test
        void contactEndsWithTheOutageAndComesBackAfterIt() {
            engine.disconnect(Outage.REPLIES_LOST);
            long last = time.nanoTime();
            time.advance(SHORT);
            assertThat(a.backend().lastContactNanos()).isEqualTo(last);
            CompletableFuture<Void> ping = a.backend().ping().toCompletableFuture();
            time.advance(SHORT);
            assertThat(ping).isNotDone();
            engine.reconnect();
            assertThat(ping).isCompleted();
            assertThat(a.backend().lastContactNanos()).isEqualTo(time.nanoTime());
        }

        @Test
        void nobodyConnectsToAnUnreachableEngine() {
            engine.disconnect(Outage.REQUESTS_LOST);
            assertThatThrownBy(() -> Clients.open(engine, "late", time)).isInstanceOf(LockUnavailableException.class);
            assertThat(engine.sessionCount()).isEqualTo(3);
        }

        @Test
        void anOutageOfOneClientDoesNotAffectOthers() {
            engine.disconnect("a", Outage.REPLIES_LOST);
            Claim held = b.exclusive("x");
            assertThat(outcome(held)).isCompletedWithValueMatching(Outcome.Granted.class::isInstance);
        }

        @Test
        void inAFlickeringOutageNothingIsLostOrReordered() {
            Claim held = b.exclusive("x");
            engine.disconnect("a", Outage.REQUESTS_LOST);
            Claim first = a.exclusive("x");
            engine.disconnect("a", Outage.REPLIES_LOST);
            Claim second = a.exclusive("x");
            engine.reconnect("a");
            engine.disconnect("a", Outage.REPLIES_LOST);
            release(held);
            assertWaits(first, second);
            engine.reconnect("a");
            granted(first);
            assertWaits(second);
        }
    }
}
