package dev.lockstep.redis;

import dev.lockstep.spi.AbstractGrant;
import java.time.Duration;
import java.util.concurrent.CompletionStage;

/** A lock that the server has given to a claim. */
final class RedisGrant extends AbstractGrant {
    private final RedisClaim claim;

    RedisGrant(RedisClaim claim, long token, long validUntilNanos) {
        super(claim.request().listener(), token, validUntilNanos);
        this.claim = claim;
    }

    RedisClaim claim() {
        return claim;
    }

    @Override
    public CompletionStage<Boolean> release(Duration blockAtMost) {
        return claim.release(null, blockAtMost);
    }

    @Override
    public CompletionStage<Boolean> releaseAfter(Duration rest, Duration blockAtMost) {
        return claim.release(rest, blockAtMost);
    }

    @Override
    public CompletionStage<Boolean> downgrade() {
        return claim.downgrade();
    }
}
