package dev.lockstep.redis;

import dev.lockstep.redis.internal.Failure;
import dev.lockstep.redis.internal.Reply;
import dev.lockstep.spi.LockBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Releases grants together. One for which this is not enough is released alone: a claim waits for the lock, the claim
 * was given up while a request was on its way, or the server did not answer.
 */
final class ReleaseBatch {
    private final RedisBackend backend;
    private final List<RedisGrant> grants;

    ReleaseBatch(RedisBackend backend, List<RedisGrant> grants) {
        this.backend = backend;
        this.grants = grants;
    }

    /** Begins; returns for each grant whether its claim had the lock until now. */
    List<CompletionStage<Boolean>> begin(Duration blockAtMost) {
        List<RedisClaim> together = new ArrayList<>(grants.size());
        for (RedisGrant grant : grants) {
            backend.renewer().unregister(grant);
            if (!grant.claim().isUnsure()) {
                together.add(grant.claim());
            }
        }
        CompletableFuture<Map<RedisClaim, Reply<Boolean>>> replies = together.isEmpty()
                ? CompletableFuture.completedFuture(Map.of())
                : backend.requests()
                        .untilAnswered(
                                together.get(0).request().name(),
                                "release",
                                blockAtMost,
                                deadline -> backend.dialect().releaseMany(together, deadline));
        List<CompletionStage<Boolean>> answers = new ArrayList<>(grants.size());
        for (RedisGrant grant : grants) {
            answers.add(replies.thenCompose(known -> released(grant, known)));
        }
        return answers;
    }

    private CompletionStage<Boolean> released(RedisGrant grant, Map<RedisClaim, Reply<Boolean>> replies) {
        RedisClaim claim = grant.claim();
        Release alone = new Release(backend, claim, grant, null);
        if (!claim.isUnsure()) {
            try {
                if (Objects.requireNonNull(replies.get(claim)).get()) {
                    backend.forget(claim);
                    return CompletableFuture.completedFuture(true);
                }
            } catch (Failure e) {
                alone = alone.after(e);
            }
        }
        return alone.begin(LockBackend.DO_NOT_BLOCK);
    }
}
