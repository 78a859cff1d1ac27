package dev.lockstep.test;

import dev.lockstep.LossReason;
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

/** A claim whose request, answer and withdrawal can be delayed. Safe for use by many threads. */
final class FaultyClaim implements Claim, GrantListener {
    private final FaultyBackend backend;
    private final ClaimRequest request;
    private final CompletableFuture<Outcome> outcome = new CompletableFuture<>();
    private @Nullable Claim real; // guarded by this; null until the request is sent
    private @Nullable FaultyGrant grant; // guarded by this
    private boolean withdrawn; // guarded by this

    FaultyClaim(FaultyBackend backend, ClaimRequest request) {
        this.backend = backend;
        this.request = request;
    }

    void submit() {
        synchronized (this) {
            if (withdrawn) {
                return;
            }
        }
        Claim submitted = backend.real().submit(new ObservedRequest(request, this));
        boolean late;
        synchronized (this) {
            real = submitted;
            late = withdrawn;
        }
        if (late) {
            submitted.withdraw(LockBackend.DO_NOT_BLOCK);
            return;
        }
        submitted.outcome().whenComplete((answer, failure) -> {
            if (answer instanceof Outcome.Granted granted) {
                FaultyGrant wrapped = wrap(granted.grant());
                afterDelay(() -> backend.wire().carry(() -> deliver(wrapped)));
            } else if (failure != null) {
                backend.wire().carry(() -> outcome.completeExceptionally(failure));
            } else {
                backend.wire().carry(() -> outcome.complete(answer));
            }
        });
    }

    private void afterDelay(Runnable task) {
        Duration delay = backend.grantDelay();
        if (delay.isZero()) {
            task.run();
        } else {
            backend.context().scheduler().schedule(delay.toNanos(), task);
        }
    }

    private void deliver(FaultyGrant wrapped) {
        synchronized (this) {
            if (withdrawn) {
                return;
            }
            wrapped.begin();
        }
        outcome.complete(new Outcome.Granted(wrapped));
    }

    private synchronized FaultyGrant wrap(Grant granted) {
        FaultyGrant known = grant;
        if (known == null || known.real() != granted) {
            known = new FaultyGrant(backend, request, granted);
            grant = known;
        }
        return known;
    }

    @Override
    public CompletionStage<Outcome> outcome() {
        return outcome;
    }

    @Override
    public void waiting() {
        backend.wire().carry(request.listener()::waiting);
    }

    @Override
    public synchronized boolean mustWait() {
        return real != null && real.mustWait();
    }

    @Override
    public CompletionStage<Void> withdraw(Duration blockAtMost) {
        Claim submitted;
        FaultyGrant raced;
        synchronized (this) {
            withdrawn = true;
            submitted = real;
            raced = grant;
        }
        if (raced != null) {
            backend.remove(raced);
        }
        if (submitted == null) {
            return CompletableFuture.completedFuture(null); // never sent, and never will be
        }
        boolean now = !backend.wire().isAway();
        return backend.wire()
                .send(
                        backend.context().ttl().toNanos(),
                        () -> submitted.withdraw(now ? blockAtMost : LockBackend.DO_NOT_BLOCK));
    }

    @Override
    public void lost(Grant granted, LossReason reason) {
        FaultyGrant wrapped = wrap(granted);
        backend.wire().carry(() -> wrapped.lose(reason));
    }

    @Override
    public void wanted(Grant granted) {
        FaultyGrant wrapped = wrap(granted);
        backend.wire().carry(() -> request.listener().wanted(wrapped));
    }
}
