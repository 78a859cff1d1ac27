package dev.lockstep.redis.internal;

import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.Retry;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Requests that are tried more than once, and the callers that wait for their answers. Safe for use by many threads.
 */
public final class Requests implements AutoCloseable {
    private final Link link;
    private final BackendContext context;
    private final Set<CompletableFuture<?>> unanswered = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    public Requests(Link link, BackendContext context) {
        this.link = link;
        this.context = context;
    }

    /** A request to the server, until a deadline. */
    @FunctionalInterface
    public interface Request<T> {
        T send(long deadlineNanos) throws Failure;
    }

    /** Tries a request until it is answered, or until the ttl has passed and the server has forgotten by itself. */
    public <T> CompletableFuture<T> untilAnswered(
            String lockName, String what, Duration blockAtMost, Request<T> request) {
        long now = context.scheduler().nanoTime();
        Tries<T> tries =
                new Tries<>(lockName, what, request, now + context.ttl().toNanos());
        if (blockAtMost.isZero()) {
            tries.soon();
        } else {
            tries.now(now + blockAtMost.toNanos());
        }
        return tries.answer;
    }

    /** Tries a request for the request timeout. */
    public <T> CompletableFuture<T> once(@Nullable String lockName, String what, Request<T> request) {
        Tries<T> tries = new Tries<>(lockName, what, request, context.requestDeadlineNanos());
        tries.soon();
        return tries.answer;
    }

    @Override
    public void close() {
        closed = true;
        unanswered.forEach(answer -> answer.completeExceptionally(context.closedFailure(null)));
    }

    private final class Tries<T> {
        private final @Nullable String lockName;
        private final String what;
        private final Request<T> request;
        private final long endNanos;
        private final Retry retry;
        private final CompletableFuture<T> answer = new CompletableFuture<>();

        Tries(@Nullable String lockName, String what, Request<T> request, long endNanos) {
            this.lockName = lockName;
            this.what = what;
            this.request = request;
            this.endNanos = endNanos;
            this.retry = Retry.until(context, endNanos).firstAtOnce();
        }

        void soon() {
            if (unanswered.add(answer)) {
                answer.whenComplete((done, failure) -> unanswered.remove(answer));
            }
            if (closed) {
                answer.completeExceptionally(context.closedFailure(lockName));
            }
            long deadline = context.requestDeadlineNanos();
            long earlier = deadline - endNanos < 0 ? deadline : endNanos;
            link.execute(() -> now(earlier));
        }

        void now(long deadlineNanos) {
            if (answer.isDone()) {
                return;
            }
            try {
                answer.complete(request.send(deadlineNanos));
            } catch (Failure e) {
                if (!e.mayPass() || !retry.later(this::soon)) {
                    answer.completeExceptionally(e.asLockstepException(lockName, what));
                }
            } catch (RuntimeException | Error e) {
                answer.completeExceptionally(
                        Failure.of(link.route().toString(), e).asLockstepException(lockName, what));
            }
        }
    }
}
