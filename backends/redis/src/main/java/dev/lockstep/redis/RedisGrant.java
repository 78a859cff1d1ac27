package dev.lockstep.redis;

import dev.lockstep.LockInfo;
import dev.lockstep.LockLostException;
import dev.lockstep.LossReason;
import dev.lockstep.spi.AbstractGrant;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/** A lock that the server has granted to a claim. */
final class RedisGrant extends AbstractGrant {
    private final RedisBackend backend;
    private final RedisClaim claim;

    RedisGrant(RedisBackend backend, RedisClaim claim, long token, long validUntilNanos) {
        super(claim.request().listener(), token, validUntilNanos);
        this.backend = backend;
        this.claim = claim;
    }

    RedisClaim claim() {
        return claim;
    }

    /** An operator revoked it. */
    void revoked() {
        backend.renewer().unregister(this);
        signalLost(LossReason.REVOKED);
    }

    @Override
    public CompletionStage<Boolean> release(Duration blockAtMost) {
        return new Release(backend, claim, this, null).begin(blockAtMost);
    }

    @Override
    public CompletionStage<Boolean> releaseAfter(Duration rest, Duration blockAtMost) {
        return new Release(backend, claim, this, rest).begin(blockAtMost);
    }

    @Override
    public CompletionStage<Boolean> downgrade() {
        return backend.requests()
                .once(
                        claim.request().name(),
                        "downgrade",
                        deadline -> backend.dialect().downgrade(claim, deadline));
    }

    @Override
    public CompletionStage<List<Integer>> slots() {
        if (claim.request().limit().isEmpty()) {
            return super.slots();
        }
        return backend.requests()
                .once(
                        claim.request().name(),
                        "slots",
                        deadline -> backend.dialect().slots(claim, deadline))
                .thenApply(this::requireSlots);
    }

    private List<Integer> requireSlots(List<Integer> slots) {
        if (slots.isEmpty()) {
            if (backend.renewer().unregister(this)) { // else it was released while this was on its way
                signalLost(LossReason.REVOKED);
            }
            throw new LockLostException(claim.request().name(), LossReason.REVOKED, backend.address());
        }
        return slots;
    }

    @Override
    public CompletionStage<Boolean> recordWait(Optional<LockInfo.Wait> wait) {
        return backend.requests()
                .once(
                        claim.request().name(),
                        "recordWait",
                        deadline -> backend.dialect().recordWait(claim, wait, deadline));
    }
}
