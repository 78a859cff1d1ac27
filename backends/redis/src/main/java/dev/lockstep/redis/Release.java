package dev.lockstep.redis;

import dev.lockstep.redis.internal.Failure;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Releases a claim's hold or place on the server: tried until the server confirms it, or has forgotten it by itself.
 */
final class Release {
    private final RedisBackend backend;
    private final RedisClaim claim;
    private final @Nullable RedisGrant grant;
    private final @Nullable Duration rest;
    private final boolean late;
    private volatile boolean unsure; // whether an earlier try may have released it

    /**
     * Makes it.
     *
     * @param grant what the claim is known to have, or null
     * @param rest for how long the server keeps it held; null to free it at once
     */
    Release(RedisBackend backend, RedisClaim claim, @Nullable RedisGrant grant, @Nullable Duration rest) {
        this.backend = backend;
        this.claim = claim;
        this.grant = grant;
        this.rest = rest;
        this.late = claim.isUnsure();
    }

    /** An earlier try, together with others, has failed. */
    Release after(Failure failure) {
        unsure = failure.kind() == Failure.Kind.UNKNOWN;
        return this;
    }

    /** Begins; returns whether the claim had the lock until now. */
    CompletableFuture<Boolean> begin(Duration blockAtMost) {
        if (grant != null) {
            backend.renewer().unregister(grant);
        }
        backend.forget(claim);
        return backend.requests().untilAnswered(claim.request().name(), "release", blockAtMost, this::send);
    }

    private boolean send(long deadlineNanos) throws Failure {
        try {
            boolean had = rest == null
                    ? backend.dialect().release(claim, late, deadlineNanos)
                    : backend.dialect().keep(claim, rest, deadlineNanos);
            // While it was valid, only an earlier try of this release can have removed it.
            return had
                    || (unsure
                            && grant != null
                            && grant.isValid(backend.scheduler().nanoTime()));
        } catch (Failure e) {
            unsure |= e.kind() == Failure.Kind.UNKNOWN;
            throw e;
        }
    }
}
