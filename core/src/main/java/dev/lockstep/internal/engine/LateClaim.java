package dev.lockstep.internal.engine;

import dev.lockstep.spi.Claim;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Outcome;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A claim that was made before its client was connected: it waits for the engine. Safe for use by many threads. */
final class LateClaim implements Claim {
    private enum State {
        /** There is no engine yet. */
        WAITING,
        /** It is being submitted. */
        SUBMITTING,
        SUBMITTED,
        /** It is not wanted any more. One that was being submitted is withdrawn at the engine as soon as it is there. */
        WITHDRAWN
    }

    private final ClaimRequest request;
    private final Consumer<LateClaim> onWithdrawn;
    private final CompletableFuture<Outcome> outcome = new CompletableFuture<>();
    private final CompletableFuture<Void> gone = new CompletableFuture<>();
    private State state = State.WAITING; // guarded by this
    private volatile @Nullable Claim submitted; // written under this

    LateClaim(ClaimRequest request, Consumer<LateClaim> onWithdrawn) {
        this.request = request;
        this.onWithdrawn = onWithdrawn;
    }

    ClaimRequest request() {
        return request;
    }

    void fail(RuntimeException failure) {
        outcome.completeExceptionally(failure);
    }

    /** Submits the claim to the engine, which is connected now. */
    void submitTo(LockBackend engine, long nowNanos) {
        synchronized (this) {
            if (state != State.WAITING) {
                return;
            }
            state = State.SUBMITTING;
        }
        Claim claim;
        try {
            claim = engine.submit(new Request(request, nowNanos));
        } catch (RuntimeException | Error e) {
            outcome.completeExceptionally(e);
            gone.complete(null);
            return;
        }
        boolean wanted;
        synchronized (this) {
            wanted = state == State.SUBMITTING;
            state = wanted ? State.SUBMITTED : state;
            submitted = claim;
        }
        if (wanted) {
            claim.outcome().whenComplete((answer, error) -> {
                if (error != null) {
                    outcome.completeExceptionally(error);
                } else {
                    outcome.complete(answer);
                }
            });
        } else {
            claim.withdraw(LockBackend.DO_NOT_BLOCK).whenComplete((done, error) -> gone.complete(null));
        }
    }

    @Override
    public CompletionStage<Outcome> outcome() {
        return outcome;
    }

    @Override
    public boolean mustWait() {
        Claim claim = submitted;
        return claim != null && claim.mustWait();
    }

    @Override
    public CompletionStage<Void> withdraw(Duration blockAtMost) {
        State before;
        Claim claim;
        synchronized (this) {
            before = state;
            claim = submitted;
            state = State.WITHDRAWN;
        }
        if (claim != null) {
            return claim.withdraw(blockAtMost);
        }
        if (before == State.WAITING) {
            onWithdrawn.accept(this);
            gone.complete(null);
        }
        return gone;
    }

    /** The same request, sent later: validity counts from then, and no calling thread is left that it may block. */
    private record Request(ClaimRequest asked, long sentNanos) implements ForwardedRequest {
        @Override
        public Duration blockAtMost() {
            return LockBackend.DO_NOT_BLOCK;
        }
    }
}
