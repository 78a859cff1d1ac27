package dev.lockstep.redis;

import dev.lockstep.redis.internal.Failure;
import dev.lockstep.redis.internal.Reply;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Claims that ask for their locks together: once, and again for those whose request failed at once, as happens on a
 * connection that was idle for long. Claims that have no answer then have failed. Used by one thread at a time.
 */
final class ClaimBatch {
    private final RedisBackend backend;
    private final List<RedisClaim> claims;

    ClaimBatch(RedisBackend backend, List<RedisClaim> claims) {
        this.backend = backend;
        this.claims = claims;
    }

    void start(Duration blockAtMost) {
        if (blockAtMost.isZero()) {
            long deadline = backend.context().requestDeadlineNanos();
            backend.link().execute(() -> ask(deadline));
        } else {
            ask(backend.scheduler().nanoTime() + blockAtMost.toNanos());
        }
    }

    private void ask(long deadlineNanos) {
        List<RedisClaim> asking =
                claims.stream().filter(RedisClaim::beginsToAsk).toList();
        long begin = backend.scheduler().nanoTime();
        Map<RedisClaim, Failure> failed = ask(asking, deadlineNanos);
        // One that failed late was silent, and what is left of the time would cost another connection for nothing.
        long now = backend.scheduler().nanoTime();
        if (!failed.isEmpty() && deadlineNanos - now > now - begin) {
            failed.forEach((claim, failure) -> claim.batchFailed(failure, false).run());
            failed = ask(List.copyOf(failed.keySet()), deadlineNanos);
        }
        failed.forEach((claim, failure) -> claim.batchFailed(failure, true).run());
    }

    /** Asks for some of the locks, and returns the failures of those whose request failed. */
    private Map<RedisClaim, Failure> ask(List<RedisClaim> asking, long deadlineNanos) {
        Map<RedisClaim, Failure> failed = new LinkedHashMap<>();
        if (asking.isEmpty()) {
            return failed;
        }
        long sent = backend.scheduler().nanoTime();
        Map<RedisClaim, Reply<Answer>> replies = backend.dialect().acquireMany(asking, deadlineNanos);
        replies.forEach((claim, reply) -> {
            try {
                claim.answered(reply.get(), sent).run();
            } catch (Failure e) {
                failed.put(claim, e);
            }
        });
        return failed;
    }
}
