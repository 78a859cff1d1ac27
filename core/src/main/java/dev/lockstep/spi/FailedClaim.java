package dev.lockstep.spi;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** One of several claims, which could not be submitted, so that the engine has no record of it. */
final class FailedClaim implements Claim {
    private final CompletableFuture<Outcome> outcome;

    FailedClaim(RuntimeException failure) {
        this.outcome = CompletableFuture.failedFuture(failure);
    }

    @Override
    public CompletionStage<Outcome> outcome() {
        return outcome;
    }

    @Override
    public boolean mustWait() {
        return false;
    }

    @Override
    public CompletionStage<Void> withdraw(Duration blockAtMost) {
        return CompletableFuture.completedFuture(null);
    }
}
