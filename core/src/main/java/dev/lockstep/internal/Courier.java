package dev.lockstep.internal;

import dev.lockstep.spi.Claim;
import dev.lockstep.spi.Grant;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Outcome;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries a turnstile's requests to the backend and the answers back. Called without the mutex: a backend may block for
 * its one round trip, and may answer inside the call. A backend that throws has answered with that exception.
 */
final class Courier {
    private static final Logger log = LoggerFactory.getLogger(Courier.class);

    private final Turnstile turnstile;
    private final Client client;

    Courier(Turnstile turnstile, Client client) {
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
            turnstile.submitted(passage, claim);
        }
        submission.outcome.whenComplete((answer, error) -> turnstile.concluded(passage, answer, error));
    }

    void withdraw(Passage passage, Claim claim) {
        CompletableFuture<Void> withdrawn = answer(() -> claim.withdraw(LockBackend.DO_NOT_BLOCK));
        if (!withdrawn.isDone()) {
            turnstile.owed(passage);
        }
        withdrawn.whenComplete((done, error) -> gone(passage, error));
    }

    /**
     * Releases a grant; after a downgrade, if one is under way.
     *
     * @param hold the last hold on it, which ends with the engine's answer; null if that is over already
     * @return the answer, done when the hold has its end
     */
    CompletableFuture<Boolean> release(Passage passage, @Nullable Hold hold, Duration blockAtMost) {
        Grant grant = passage.heldGrant();
        CompletableFuture<Boolean> downgrade = passage.downgrade;
        CompletableFuture<Boolean> released;
        try {
            released = downgrade == null || downgrade.isDone()
                    ? release(passage, grant, blockAtMost).toCompletableFuture()
                    : downgrade.thenCompose(done -> release(passage, grant, LockBackend.DO_NOT_BLOCK));
        } catch (RuntimeException | Error e) {
            released = CompletableFuture.failedFuture(e);
        }
        if (released.isDone() && !released.isCompletedExceptionally()) {
            if (hold != null && !released.join()) {
                turnstile.goneBefore(passage, hold);
                return released;
            }
            if (hold != null && client.events().isHeard()) {
                turnstile.confirmed(hold);
            }
            turnstile.goneFast(passage);
            client.events().deliver();
            return released;
        }
        turnstile.owed(passage);
        return released.whenComplete((known, error) -> answered(passage, hold, known, error));
    }

    /** Only a client that closes releases what has to stay held. */
    private CompletionStage<Boolean> release(Passage passage, Grant grant, Duration blockAtMost) {
        Duration rest = passage.isToBeKept() ? Duration.ofNanos(passage.keptNanos(client.nanoTime())) : Duration.ZERO;
        return rest.isNegative() || rest.isZero() ? grant.release(blockAtMost) : grant.releaseAfter(rest, blockAtMost);
    }

    /** Ends a hold before its passage is gone, so that listeners do not hear of the next hold first; then they hear of it. */
    private void answered(Passage passage, @Nullable Hold hold, @Nullable Boolean known, @Nullable Throwable error) {
        if (hold != null && error == null && known != null && !known) {
            turnstile.goneBefore(passage, hold);
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
            turnstile.downgraded(passage, shared);
            done.complete(shared);
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
        turnstile.gone(passage);
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
