package dev.lockstep.redis;

import dev.lockstep.spi.AbstractGrant;
import java.time.Duration;
import java.util.concurrent.CompletionStage;

/** A lock that a majority of servers has given to a claim. */
final class RedlockGrant extends AbstractGrant {
    private final RedlockClaim claim;

    RedlockGrant(RedlockClaim claim, long token, long validUntilNanos) {
        super(claim.request().listener(), token, validUntilNanos);
        this.claim = claim;
    }

    RedlockClaim claim() {
        return claim;
    }

    @Override
    public CompletionStage<Boolean> release(Duration blockAtMost) {
        return claim.release();
    }
}
