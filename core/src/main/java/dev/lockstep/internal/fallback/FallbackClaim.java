package dev.lockstep.internal.fallback;

import dev.lockstep.internal.fallback.FallbackRouter.Side;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.Outcome;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** A claim that is tried at one engine, and at the other when the first is gone; see {@link FallbackRouter}. */
final class FallbackClaim implements Claim {
    private final FallbackRouter router;
    private final ClaimRequest request;
    private final CompletableFuture<Outcome> outcome = new CompletableFuture<>();

    // Written under the router's mutex, as the next.
    private volatile @Nullable FallbackAttempt attempt; // null while parked, and once withdrawn
    private int attempts;

    FallbackClaim(FallbackRouter router, ClaimRequest request) {
        this.router = router;
        this.request = request;
    }

    ClaimRequest request() {
        return request;
    }

    @Override
    public CompletionStage<Outcome> outcome() {
        return outcome;
    }

    /** Makes the next attempt the current one. Under the mutex. */
    FallbackAttempt attemptAt(Side side) {
        FallbackAttempt next = new FallbackAttempt(router, this, side, ++attempts);
        attempt = next;
        return next;
    }

    /** Leaves the current attempt to be withdrawn in the background. Under the mutex. */
    void dropAttempt() {
        FallbackAttempt dropped = attempt;
        attempt = null;
        if (dropped != null) {
            dropped.giveUp();
        }
    }

    /** Whether an attempt may answer this claim. Under the mutex. */
    boolean isCurrent(FallbackAttempt asking) {
        return attempt == asking;
    }

    void answer(Outcome answer) {
        outcome.complete(answer);
    }

    void fail(Throwable failure) {
        outcome.completeExceptionally(failure);
    }

    @Override
    public boolean mustWait() {
        FallbackAttempt current = attempt;
        return current != null && current.mustWait();
    }

    @Override
    public CompletionStage<Void> withdraw(Duration blockAtMost) {
        router.mutex.enter();
        try {
            router.answered(this);
            FallbackAttempt last = attempt;
            attempt = null;
            return last == null ? CompletableFuture.completedFuture(null) : last.giveUp();
        } finally {
            router.mutex.leave();
        }
    }
}
