package dev.lockstep.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Gives back what a claim has at the server: tried until the server confirms it, or has forgotten it by itself. */
final class Release {
    private final RedisBackend backend;
    private final RedisClaim claim;
    private final @Nullable RedisGrant grant;
    private final boolean late;
    private final @Nullable Duration rest;
    private volatile boolean unsure;

    private Release(
            RedisBackend backend, RedisClaim claim, @Nullable RedisGrant grant, boolean late, @Nullable Duration rest) {
        this.backend = backend;
        this.claim = claim;
        this.grant = grant;
        this.late = late;
        this.rest = rest;
    }

    /**
     * Begins.
     *
     * @param grant what the claim is known to have, or null
     * @param late whether a request of the claim may still arrive at the server, which must then get nothing
     * @param rest for how long the server keeps it held; null to free it at once
     * @return whether it had the lock until now
     */
    static CompletableFuture<Boolean> of(
            RedisBackend backend,
            RedisClaim claim,
            @Nullable RedisGrant grant,
            boolean late,
            @Nullable Duration rest,
            Duration blockAtMost) {
        if (grant != null) {
            backend.renewer().unregister(grant);
        }
        backend.forget(claim);
        Release release = new Release(backend, claim, grant, late, rest);
        return backend.requests().untilAnswered(claim.request().name(), "release", blockAtMost, release::send);
    }

    private boolean send(long deadlineNanos) throws Failure {
        try {
            boolean had = rest == null
                    ? backend.dialect().release(claim, late, deadlineNanos)
                    : backend.dialect().keep(claim, rest, deadlineNanos);
            // Nobody but an earlier try of this release can have taken it away while it was valid.
            return had || (unsure && isValid());
        } catch (Failure e) {
            unsure |= e.kind() == Failure.Kind.UNKNOWN;
            throw e;
        }
    }

    private boolean isValid() {
        return grant != null
                && !grant.isLost()
                && grant.validUntilNanos() - backend.scheduler().nanoTime() > 0;
    }
}
