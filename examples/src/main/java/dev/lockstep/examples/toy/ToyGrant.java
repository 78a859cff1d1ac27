package dev.lockstep.examples.toy;

import dev.lockstep.spi.AbstractGrant;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.Renewer;
import java.time.Duration;
import java.util.concurrent.CompletionStage;

/** A key that the store has given to a claim. */
final class ToyGrant extends AbstractGrant {
    private final ToyBackend backend;
    private final String key;
    private final String owner;

    ToyGrant(ToyBackend backend, String key, ClaimRequest request, long token, long sentNanos) {
        super(
                request.listener(),
                token,
                Renewer.deadline(sentNanos, backend.context().ttl()));
        this.backend = backend;
        this.key = key;
        this.owner = request.claimId();
    }

    String key() {
        return key;
    }

    String owner() {
        return owner;
    }

    @Override
    public CompletionStage<Boolean> release(Duration blockAtMost) {
        backend.renewer().unregister(this);
        return backend.callUntilAnswered(blockAtMost, store -> store.release(key, owner));
    }
}
