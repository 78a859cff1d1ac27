package dev.lockstep.internal.fallback;

import dev.lockstep.LossReason;
import dev.lockstep.internal.concurrent.Futures;
import dev.lockstep.internal.engine.ForwardedRequest;
import dev.lockstep.internal.fallback.FallbackRouter.Side;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.Grant;
import dev.lockstep.spi.GrantListener;
import dev.lockstep.spi.LockBackend;
import dev.lockstep.spi.Outcome;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One try of a claim, at one of two engines. It has an id and a time of its own, because an engine may still be
 * forgetting an earlier one when this one arrives.
 */
final class FallbackAttempt implements ForwardedRequest, GrantListener {
    private static final Logger log = LoggerFactory.getLogger(FallbackAttempt.class);

    private final FallbackRouter router;
    private final FallbackClaim owner;
    private final ClaimRequest request;
    private final Side side;
    private final int number;
    private final long sentNanos;

    /** The grant that was last an outcome or signalled. Guarded by this. */
    private @Nullable FallbackGrant grant;

    // Written under the router's mutex.
    private boolean submitted; // the engine has been asked
    private volatile @Nullable Claim claim; // known then, unless the engine refused
    private volatile @Nullable CompletableFuture<Void> gone; // once given up

    FallbackAttempt(FallbackRouter router, FallbackClaim owner, Side side, int number) {
        this.router = router;
        this.owner = owner;
        this.request = owner.request();
        this.side = side;
        this.number = number;
        this.sentNanos = number == 1 ? request.sentNanos() : router.backend().nanoTime();
    }

    // ---------------------------------------------------------------- its way

    /** Asks the engine. Called once, without the mutex. */
    void submit() {
        if (side == Side.PRIMARY) {
            router.backend().needed(sentNanos);
        }
        CompletionStage<Outcome> answer;
        Claim known = null;
        try {
            known = router.backend().engine(side).submit(this);
            answer = known.outcome();
        } catch (RuntimeException | Error e) {
            answer = CompletableFuture.failedFuture(e);
        }
        submitted(known);
        answer.whenComplete(this::conclude);
    }

    /** The engine knows it; one that was given up meanwhile can be withdrawn only now. */
    private void submitted(@Nullable Claim known) {
        router.mutex.enter();
        try {
            submitted = true;
            claim = known;
            CompletableFuture<Void> done = gone;
            if (done != null) {
                router.mutex.later(() -> withdraw(known, done));
            }
        } finally {
            router.mutex.leave();
        }
    }

    /** Whether the engine has answered that it must wait. */
    boolean mustWait() {
        Claim known = claim;
        return known != null && known.mustWait();
    }

    private void conclude(@Nullable Outcome outcome, @Nullable Throwable error) {
        router.mutex.enter();
        try {
            if (!owner.isCurrent(this)) {
                return; // its withdrawal releases what it was granted
            }
            router.answered(owner);
            if (outcome instanceof Outcome.Granted granted) {
                FallbackGrant begun = known(granted.grant());
                router.begun(begun);
                router.mutex.later(() -> owner.answer(new Outcome.Granted(begun)));
            } else if (outcome != null) {
                router.mutex.later(() -> owner.answer(outcome));
            } else {
                Throwable failure = error != null ? error : new IllegalStateException("no outcome");
                router.mutex.later(() -> owner.fail(failure));
            }
        } finally {
            router.mutex.leave();
        }
    }

    /**
     * Gives it up, with a grant that it has received but that the core did not take. Under the mutex.
     *
     * @return done when the engine no longer has it, or is down itself
     */
    CompletableFuture<Void> giveUp() {
        CompletableFuture<Void> done = new CompletableFuture<>();
        gone = done;
        FallbackGrant untaken = signalledGrant();
        if (untaken != null) {
            router.ended(untaken);
        }
        Claim known = claim;
        if (submitted) {
            router.mutex.later(() -> withdraw(known, done));
        } else if (router.side() != side) {
            router.mutex.later(() -> done.complete(null));
        }
        return done;
    }

    private void withdraw(@Nullable Claim known, CompletableFuture<Void> done) {
        if (known == null) {
            done.complete(null); // the engine refused it
            return;
        }
        long withdrawnNanos = router.backend().nanoTime();
        CompletableFuture<Void> answer = Futures.answerTo(() -> known.withdraw(LockBackend.DO_NOT_BLOCK));
        answer.whenComplete((value, error) -> {
            if (error != null) {
                log.debug("Lock '{}': a claim could not be withdrawn", name(), error);
            }
        });
        router.follow(side, withdrawnNanos, answer, done, () -> done.complete(null));
    }

    // ---------------------------------------------------------------- its grant

    /** The grant as the core sees it: one object for one grant of the engine. */
    private synchronized FallbackGrant known(Grant granted) {
        FallbackGrant known = grant;
        if (known == null || !known.isOf(granted)) {
            known = new FallbackGrant(router, granted, side, request);
            grant = known;
        }
        return known;
    }

    private synchronized @Nullable FallbackGrant signalledGrant() {
        return grant;
    }

    @Override
    public void lost(Grant ended, LossReason reason) {
        if (gone == null) {
            request.listener().lost(known(ended), reason);
        }
    }

    @Override
    public void wanted(Grant blocking) {
        if (gone == null) {
            request.listener().wanted(known(blocking));
        }
    }

    @Override
    public void waiting() {
        if (gone == null) {
            request.listener().waiting();
        }
    }

    // ---------------------------------------------------------------- what it asks

    @Override
    public ClaimRequest asked() {
        return request;
    }

    /** The caller's thread has left by the time of a second attempt. */
    @Override
    public Duration blockAtMost() {
        return number == 1 ? router.backend().bounded(request.blockAtMost()) : LockBackend.DO_NOT_BLOCK;
    }

    @Override
    public String claimId() {
        return number == 1 ? request.claimId() : request.claimId() + '-' + Integer.toString(number, 36);
    }

    @Override
    public GrantListener listener() {
        return this;
    }

    @Override
    public long sentNanos() {
        return sentNanos;
    }
}
