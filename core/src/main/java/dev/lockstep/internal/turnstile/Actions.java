package dev.lockstep.internal.turnstile;

import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import dev.lockstep.LockOptions;
import dev.lockstep.LossReason;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.Grant;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Outcome;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Supplier;
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

    /** What became of the call that submits a claim; without a claim if the call failed. */
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
        CompletableFuture<Void> withdrawn = answer(() -> claim.withdraw(LockBackend.DO_NOT_BLOCK));
        if (!withdrawn.isDone()) {
            turnstile.engineEvents().owed(passage);
        }
        withdrawn.whenComplete((done, error) -> gone(passage, error));
    }

    /** Releases a grant whose last hold is over. */
    void release(Passage passage) {
        release(passage, null, LockBackend.DO_NOT_BLOCK);
    }

    /** Releases a grant whose last hold ends with the engine's answer. */
    void release(HoldRelease last) {
        last.asked(release(last.hold.passage, last.hold, last.blockAtMost));
    }

    /** Releases a grant; after a downgrade, if one is under way. */
    private CompletableFuture<Boolean> release(Passage passage, @Nullable Hold hold, Duration blockAtMost) {
        CompletableFuture<Boolean> released = requestRelease(passage, blockAtMost);
        if (released.isDone() && !released.isCompletedExceptionally()) {
            releasedAtOnce(passage, hold, released.join());
            return released;
        }
        turnstile.engineEvents().owed(passage);
        return released.whenComplete((known, error) -> answered(passage, hold, known, error));
    }

    private CompletableFuture<Boolean> requestRelease(Passage passage, Duration blockAtMost) {
        Grant grant = passage.heldGrant();
        CompletableFuture<Boolean> downgrade = passage.downgrade();
        try {
            return downgrade == null || downgrade.isDone()
                    ? releaseOrLeave(passage, grant, blockAtMost).toCompletableFuture()
                    : downgrade.thenCompose(done -> releaseOrLeave(passage, grant, LockBackend.DO_NOT_BLOCK));
        } catch (RuntimeException | Error e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private void releasedAtOnce(Passage passage, @Nullable Hold hold, boolean known) {
        if (hold != null && !known) {
            turnstile.engineEvents().goneBefore(passage, hold);
            return;
        }
        if (hold != null && client.events().isHeard()) {
            turnstile.confirmed(hold);
        }
        turnstile.engineEvents().goneAtOnce(passage);
        client.events().deliver();
    }

    /** Only a client that closes releases what has to stay held. */
    private CompletionStage<Boolean> releaseOrLeave(Passage passage, Grant grant, Duration blockAtMost) {
        KeptTime kept = passage.kept();
        Duration rest = kept == null ? Duration.ZERO : Duration.ofNanos(kept.leftNanos(client.nanoTime()));
        return rest.isNegative() || rest.isZero() ? grant.release(blockAtMost) : grant.releaseAfter(rest, blockAtMost);
    }

    /** Ends a hold before its passage is gone, so that listeners do not hear of the next hold first; then they hear of it. */
    private void answered(Passage passage, @Nullable Hold hold, @Nullable Boolean known, @Nullable Throwable error) {
        if (hold != null && error == null && known != null && !known) {
            turnstile.engineEvents().goneBefore(passage, hold);
            return;
        }
        if (hold != null && error == null) {
            turnstile.confirmed(hold);
        } else if (hold != null) {
            turnstile.unconfirmed(hold);
        }
        gone(passage, error);
        client.events().deliver();
    }

    /** Lets the backend clear up a grant that was lost. Nothing waits for it. */
    void discard(Passage passage) {
        answer(() -> passage.heldGrant().release(LockBackend.DO_NOT_BLOCK)).whenComplete((done, error) -> {
            if (error != null) {
                log.debug("Lock '{}': clearing up a lost grant failed", turnstile.name(), error);
            }
        });
    }

    void downgrade(Passage passage, CompletableFuture<Boolean> done) {
        answer(() -> passage.heldGrant().downgrade()).whenComplete((answer, error) -> {
            // A failure means that the engine may have done it: other clients' readers may be in.
            boolean shared = error != null || answer;
            turnstile.engineEvents().downgraded(passage, shared);
            done.complete(shared);
        });
    }

    void recordWait(Passage passage, Optional<LockInfo.Wait> wait) {
        answer(() -> passage.heldGrant().recordWait(wait)).whenComplete((stored, error) -> {
            if (error != null) {
                log.debug("Lock '{}': recording what its holder waits for failed", turnstile.name(), error);
            }
            turnstile.waits().recorded(passage, wait, error == null);
        });
    }

    private void gone(Passage passage, @Nullable Throwable error) {
        if (error != null) {
            // Without the stack: in an outage there is one for every lock.
            log.warn(
                    "Lock '{}': giving it back was not confirmed, the engine frees it after the ttl: {}",
                    turnstile.name(),
                    error.toString());
            log.debug("Lock '{}': giving it back failed", turnstile.name(), error);
        }
        turnstile.engineEvents().gone(passage);
    }

    void wake(@Nullable Thread thread) {
        LockSupport.unpark(thread);
    }

    void watchOutage(long sinceNanos) {
        client.watchOutage(sinceNanos);
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

    void logLoss(Hold hold, LossReason reason) {
        client.events().log().lost(turnstile.name(), reason, hold.drawnToken(), client.nanoTime() - hold.sinceNanos);
    }

    private static <T extends @Nullable Object> CompletableFuture<T> answer(Supplier<CompletionStage<T>> request) {
        try {
            return request.get().toCompletableFuture();
        } catch (RuntimeException | Error e) {
            return CompletableFuture.failedFuture(e);
        }
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
