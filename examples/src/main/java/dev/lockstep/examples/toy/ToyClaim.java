package dev.lockstep.examples.toy;

import dev.lockstep.spi.Backoff;
import dev.lockstep.spi.Claim;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.Outcome;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Asks for a lock until it has it, is refused because it may not wait, or is withdrawn. */
final class ToyClaim implements Claim {
    private static final Backoff POLLS = new Backoff(Duration.ofMillis(5), Duration.ofMillis(100));

    private final ToyBackend backend;
    private final ClaimRequest request;
    private final String key;
    private final CompletableFuture<Outcome> outcome = new CompletableFuture<>();

    // Guarded by this. The monitor is held for a try, so that a withdrawal is sent after it and not beside it.
    private boolean withdrawn;
    private @Nullable ToyGrant grant;
    private int polls;
    private int failures;

    private volatile boolean mustWait;

    ToyClaim(ToyBackend backend, ClaimRequest request) {
        this.backend = backend;
        this.request = request;
        this.key = backend.key(request.name());
    }

    void start() {
        if (request.mayBarge()) {
            backend.run(request.blockAtMost(), this::attempt);
        } else {
            attemptLater(POLLS.max()); // no queue at this engine: to go behind others is to let each try first
        }
    }

    private void attempt() {
        boolean waited = mustWait;
        Outcome answer = tryOnce();
        if (answer != null) {
            outcome.complete(answer); // outside the monitor: what follows is the core's
        } else if (mustWait && !waited) {
            request.listener().waiting(); // outside the monitor, too, and once
        }
    }

    private synchronized @Nullable Outcome tryOnce() {
        if (withdrawn) {
            return null;
        }
        Duration ttl = backend.context().ttl();
        long sentNanos = backend.scheduler().nanoTime(); // before the request, so that validity ends before the ttl
        try {
            Optional<ToyStore.Entry> entry =
                    backend.send(store -> store.acquire(key, request.claimId(), request.holder(), ttl));
            if (entry.isPresent()) {
                grant = new ToyGrant(backend, key, request, entry.get().token(), sentNanos);
                backend.renewer().register(grant);
                return new Outcome.Granted(grant);
            }
            if (!request.mayWait()) {
                return Outcome.Busy.INSTANCE;
            }
            failures = 0;
            mustWait = true;
            attemptLater(POLLS.delay(++polls));
        } catch (IOException e) {
            // Unknown whether it was carried out; asking again with the same claim id finds out.
            attemptLater(backend.context().retryBackoff().delay(++failures));
        }
        return null;
    }

    private void attemptLater(Duration delay) {
        backend.later(delay, () -> backend.run(ToyBackend.DO_NOT_BLOCK, this::attempt));
    }

    @Override
    public CompletionStage<Outcome> outcome() {
        return outcome;
    }

    @Override
    public boolean mustWait() {
        return mustWait;
    }

    @Override
    public CompletionStage<Void> withdraw(Duration blockAtMost) {
        CompletableFuture<Void> gone = new CompletableFuture<>();
        backend.run(blockAtMost, () -> {
            synchronized (this) {
                withdrawn = true;
                if (grant != null) {
                    backend.renewer().unregister(grant);
                }
            }
            // Gone either way: the engine said so, or the ttl has passed.
            backend.callUntilAnswered(blockAtMost, store -> store.release(key, request.claimId()))
                    .whenComplete((released, failure) -> gone.complete(null));
        });
        return gone;
    }
}
