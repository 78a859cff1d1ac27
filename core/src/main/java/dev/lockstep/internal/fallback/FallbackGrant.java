package dev.lockstep.internal.fallback;

import dev.lockstep.LockInfo;
import dev.lockstep.LockMode;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.internal.engine.ForeignGrant;
import dev.lockstep.internal.fallback.FallbackRouter.Side;
import dev.lockstep.spi.ClaimRequest;
import dev.lockstep.spi.Grant;
import dev.lockstep.spi.GrantListener;
import dev.lockstep.spi.LockBackend;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/** A grant of one of two engines, which knows which; see {@link FallbackRouter}. Safe for use by many threads. */
final class FallbackGrant implements ForeignGrant {
    private final FallbackRouter router;
    private final Grant grant;
    private final Side side;
    private final String name;
    private final GrantListener listener;
    private LockMode mode; // guarded by the router's mutex
    private volatile boolean draining;

    FallbackGrant(FallbackRouter router, Grant grant, Side side, ClaimRequest request) {
        this.router = router;
        this.grant = grant;
        this.side = side;
        this.name = request.name();
        this.mode = request.mode();
        this.listener = request.listener();
    }

    boolean isOf(Grant other) {
        return grant == other;
    }

    String name() {
        return name;
    }

    Side side() {
        return side;
    }

    boolean isFallback() {
        return side == Side.FALLBACK;
    }

    @Override
    public boolean isForeign() {
        return isFallback();
    }

    LockMode mode() {
        return mode;
    }

    void becomeShared() {
        mode = LockMode.SHARED;
    }

    /** The primary is back, and waits for this grant to end. */
    void drain() {
        draining = true;
        listener.wanted(this);
    }

    /**
     * The engine's token.
     *
     * @throws IllegalStateException if this was granted in fallback
     */
    @Override
    public long token() {
        if (isFallback()) {
            throw new IllegalStateException(
                    "Lock '" + name + "' was taken in fallback, while its engine was down: it has"
                            + " no token, because its order among the holds of the engine is unknown. Do not write to storage"
                            + " that needs one; see Lease.isFallback().");
        }
        return grant.token();
    }

    @Override
    public long validUntilNanos() {
        return grant.validUntilNanos();
    }

    @Override
    public boolean isWanted() {
        return draining || grant.isWanted();
    }

    @Override
    public CompletionStage<Boolean> release(Duration blockAtMost) {
        return end(blockAtMost, grant::release);
    }

    @Override
    public CompletionStage<Boolean> releaseAfter(Duration rest, Duration blockAtMost) {
        return end(blockAtMost, bound -> grant.releaseAfter(rest, bound));
    }

    private CompletionStage<Boolean> end(Duration blockAtMost, Function<Duration, CompletionStage<Boolean>> release) {
        router.mutex.enter();
        try {
            router.ended(this);
        } finally {
            router.mutex.leave();
        }
        long sentNanos = router.backend().nanoTime();
        boolean engineGone = side == Side.PRIMARY && router.side() == Side.FALLBACK;
        CompletableFuture<Boolean> answer = release.apply(
                        engineGone ? LockBackend.DO_NOT_BLOCK : router.backend().bounded(blockAtMost))
                .toCompletableFuture();
        if (side == Side.FALLBACK || answer.isDone()) {
            return answer;
        }
        CompletableFuture<Boolean> result = new CompletableFuture<>();
        router.follow(side, sentNanos, answer, result, () -> result.completeExceptionally(unconfirmed()));
        return result;
    }

    private LockUnavailableException unconfirmed() {
        return new LockUnavailableException(
                name,
                "Lock '" + name + "': the engine is down and did not confirm the release. It continues in the"
                        + " background; at the latest the lock is free after the ttl.");
    }

    @Override
    public CompletionStage<Boolean> downgrade() {
        return grant.downgrade().thenApply(shared -> {
            if (shared) {
                router.shared(this);
            }
            return shared;
        });
    }

    @Override
    public CompletionStage<List<Integer>> slots() {
        return grant.slots();
    }

    @Override
    public CompletionStage<Boolean> recordWait(Optional<LockInfo.Wait> wait) {
        return grant.recordWait(wait);
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        return isFallback() ? Optional.empty() : grant.unwrap(type);
    }
}
