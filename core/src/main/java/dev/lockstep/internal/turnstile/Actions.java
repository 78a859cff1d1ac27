package dev.lockstep.internal.turnstile;

import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import dev.lockstep.LockOptions;
import dev.lockstep.LossReason;
import dev.lockstep.internal.concurrent.Futures;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.Grant;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Outcome;
import dev.lockstep.spi.Scheduler;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Performs the effects of decisions: carries a turnstile's requests to the backend, wakes threads, runs users' code. Called
 * without the mutex: a backend may block for its one round trip, and may answer inside the call. It decides nothing; answers
 * go to {@link EngineEvents}. A backend that throws has answered with that exception.
 */
final class Actions {
    private static final Logger log = LoggerFactory.getLogger(Actions.class);

    private final Turnstile turnstile;
    private final TurnstileContext client;

    Actions(Turnstile turnstile, TurnstileContext client) {
        this.turnstile = turnstile;
        this.client = client;
    }

    /** The result of the call that submits a claim; without a claim if the call failed. */
    record Submission(@Nullable Claim claim, CompletableFuture<Outcome> outcome) {}

    Submission call(Passage passage) {
        Claim claim = null;
        try {
            claim = client.backend().submit(passage);
            return new Submission(claim, claim.outcome().toCompletableFuture());
        } catch (RuntimeException | Error e) {
            return new Submission(claim, CompletableFuture.failedFuture(e));
        }
    }

    void submit(Passage passage) {
        follow(passage, call(passage));
    }

    /** Brings the answer to a claim that was submitted. */
    void follow(Passage passage, Submission submission) {
        Claim claim = submission.claim;
        if (claim != null) {
            turnstile.engineEvents().submitted(passage, claim);
        }
        submission.outcome.whenComplete(
                (answer, error) -> turnstile.engineEvents().concluded(passage, answer, error));
    }

    void withdraw(Passage passage, Claim claim) {
        CompletableFuture<Void> withdrawn = Futures.answerTo(() -> claim.withdraw(LockBackend.DO_NOT_BLOCK));
        if (!withdrawn.isDone()) {
            turnstile.engineEvents().owed(passage);
        }
        withdrawn.whenComplete((done, error) -> gone(passage, null, error));
    }

    /** Releases a grant whose last hold is over. */
    void release(Passage passage, Duration rest) {
        CompletableFuture<Boolean> released = requestRelease(passage, rest, LockBackend.DO_NOT_BLOCK);
        if (isAnswered(released)) {
            turnstile.engineEvents().goneAtOnce(passage);
            client.events().deliver();
            return;
        }
        turnstile.engineEvents().owed(passage);
        released.whenComplete((known, error) -> {
            gone(passage, null, error);
            client.events().deliver();
        });
    }

    /** Releases a grant whose last hold ends with the engine's answer. */
    void release(HoldRelease last) {
        follow(last, requestRelease(last.hold.passage, last.rest(), last.blockAtMost));
    }

    /** Whether a grant may be released together with others: nothing else is to be done with it first. */
    static boolean mayReleaseTogether(HoldRelease last) {
        CompletableFuture<Boolean> downgrade = last.hold.passage.downgrade();
        return last.rest().isZero() && (downgrade == null || downgrade.isDone());
    }

    /** The engine has been asked to release a grant: brings its answer. */
    void follow(HoldRelease last, CompletableFuture<Boolean> asked) {
        Hold hold = last.hold;
        CompletableFuture<Boolean> released = asked;
        if (isAnswered(released)) {
            releasedAtOnce(last, released.join());
        } else {
            turnstile.engineEvents().owed(hold.passage);
            released = released.whenComplete((known, error) -> answered(hold, known, error));
        }
        last.asked(released);
    }

    private static boolean isAnswered(CompletableFuture<Boolean> released) {
        return released.isDone() && !released.isCompletedExceptionally();
    }

    /** Releases a grant; after a downgrade, if one is under way. */
    private static CompletableFuture<Boolean> requestRelease(Passage passage, Duration rest, Duration blockAtMost) {
        Grant grant = passage.heldGrant();
        CompletableFuture<Boolean> downgrade = passage.downgrade();
        try {
            return downgrade == null || downgrade.isDone()
                    ? release(grant, rest, blockAtMost).toCompletableFuture()
                    : downgrade.thenCompose(done -> release(grant, rest, LockBackend.DO_NOT_BLOCK));
        } catch (RuntimeException | Error e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private static CompletionStage<Boolean> release(Grant grant, Duration rest, Duration blockAtMost) {
        return rest.isZero() ? grant.release(blockAtMost) : grant.releaseAfter(rest, blockAtMost);
    }

    private void releasedAtOnce(HoldRelease last, boolean known) {
        Hold hold = last.hold;
        if (!known) {
            turnstile.engineEvents().goneBefore(hold.passage, hold);
            return;
        }
        if (client.events().isHeard() || last.waitsForMore()) {
            turnstile.confirmed(hold);
        }
        turnstile.engineEvents().goneAtOnce(hold.passage);
        client.events().deliver();
    }

    /**
     * Ends a hold before its passage is gone, so that listeners are not notified of the next hold first; then notifies
     * them.
     */
    private void answered(Hold hold, @Nullable Boolean known, @Nullable Throwable error) {
        if (error == null && known != null && !known) {
            turnstile.engineEvents().goneBefore(hold.passage, hold);
            return;
        }
        if (error == null) {
            turnstile.confirmed(hold);
        } else {
            turnstile.unconfirmed(hold);
        }
        gone(hold.passage, hold, error);
        client.events().deliver();
    }

    /** Lets the backend clear up a grant that was lost. Nothing waits for it. */
    void discard(Passage passage) {
        Futures.answerTo(() -> passage.heldGrant().release(LockBackend.DO_NOT_BLOCK))
                .whenComplete((done, error) -> {
                    if (error != null) {
                        log.debug("Lock '{}': clearing up a lost grant failed", turnstile.name(), error);
                    }
                });
    }

    void downgrade(Passage passage, CompletableFuture<Boolean> done) {
        Futures.answerTo(() -> passage.heldGrant().downgrade()).whenComplete((answer, error) -> {
            // A failure means that the engine may have done it: other clients' readers may be in.
            boolean shared = error != null || answer;
            turnstile.engineEvents().downgraded(passage, shared);
            done.complete(shared);
        });
    }

    void recordWait(Passage passage, Optional<LockInfo.Wait> wait) {
        Futures.answerTo(() -> passage.heldGrant().recordWait(wait)).whenComplete((stored, error) -> {
            if (error != null) {
                log.debug("Lock '{}': recording what its holder waits for failed", turnstile.name(), error);
            }
            turnstile.waits().recorded(passage, wait, error == null);
        });
    }

    /** The release of a hold was answered; without a hold, that of a grant that nobody holds or the withdrawal of a claim. */
    private void gone(Passage passage, @Nullable Hold hold, @Nullable Throwable error) {
        if (error != null) {
            Duration held = hold == null ? null : Duration.ofNanos(client.nanoTime() - hold.sinceNanos);
            client.events().log().unconfirmed(turnstile.name(), hold == null ? 0 : hold.drawnToken(), held, error);
            log.debug("Lock '{}': its release or withdrawal was not confirmed", turnstile.name(), error);
        }
        turnstile.engineEvents().gone(passage);
    }

    void wake(@Nullable Thread thread) {
        LockSupport.unpark(thread);
    }

    void watchOutage(long sinceNanos) {
        client.watchOutage(sinceNanos);
    }

    /** Sees to it that a deadline is watched. */
    void watchDeadline(long deadlineNanos) {
        try {
            client.watchDeadline(deadlineNanos);
        } catch (RuntimeException e) {
            log.error("Lock '{}': setting the timer of a deadline failed", turnstile.name(), e);
        }
    }

    void checkIdle(Passage passage, Duration sticky, long delayNanos) {
        client.scheduler().schedule(delayNanos, () -> turnstile.engineEvents().checkIdle(passage, sticky));
    }

    void checkKept(Passage passage, long delayNanos) {
        client.scheduler().schedule(delayNanos, () -> turnstile.engineEvents().checkKept(passage));
    }

    /** A call whose claim was withdrawn at once has its result already, and needs no timer. */
    void endLeaving(Waiter waiter, long delayNanos) {
        if (waiter.result() != null) {
            return;
        }
        Scheduler.Timer timer = client.scheduler()
                .schedule(delayNanos, () -> turnstile.engineEvents().notConfirmed(waiter));
        turnstile.engineEvents().endsBy(waiter, timer);
    }

    void completeLater(CompletableFuture<Void> future, long delayNanos) {
        Scheduler.Timer timer = client.scheduler().schedule(delayNanos, () -> future.complete(null));
        future.whenComplete((nothing, error) -> timer.cancel());
    }

    void cancel(Scheduler.Timer timer) {
        timer.cancel();
    }

    void answer(Consumer<Result> callback, Result result) {
        client.execute(() -> callback.accept(result));
    }

    void runLossAction(Consumer<LossReason> action, LossReason reason) {
        client.runLossAction(turnstile.name(), action, reason);
    }

    void publish() {
        client.events().deliver();
    }

    void reportHandOff(LockMode mode, LockOptions options) {
        client.events().reportHandOff(turnstile.name(), mode, options);
    }

    void reportWait(Runnable report) {
        client.execute(report);
    }

    void reportLoss(Hold hold, LossReason reason) {
        client.events()
                .reportLoss(
                        turnstile.name(), hold.mode, reason, hold.drawnToken(), client.nanoTime() - hold.sinceNanos);
    }

    /** Whether a claim was granted inside the call that submitted it. */
    static @Nullable Grant grantedAtOnce(Submission submission) {
        CompletableFuture<Outcome> outcome = submission.outcome;
        return outcome.isDone()
                        && !outcome.isCompletedExceptionally()
                        && outcome.join() instanceof Outcome.Granted granted
                ? granted.grant()
                : null;
    }
}
