package dev.lockstep.redis.redlock;

import dev.lockstep.LockInfo;
import dev.lockstep.redis.internal.QueueOperators;
import dev.lockstep.spi.AbstractGrant;
import java.time.Duration;
import java.util.Collections;
import java.util.Optional;
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

    /** Stores it on each server that the claim has; a majority must have stored it. */
    @Override
    public CompletionStage<Boolean> recordWait(Optional<LockInfo.Wait> wait) {
        RedlockBackend backend = claim.backend();
        return backend.askAll(
                        claim.request().name(),
                        "recordWait",
                        (member, deadline) -> QueueOperators.recordWait(
                                member.link(),
                                claim.keys(),
                                claim.memberClaim(member.index()).id().bytes(),
                                wait,
                                deadline))
                .thenApply(stored -> Collections.frequency(stored, true) >= backend.majority());
    }
}
