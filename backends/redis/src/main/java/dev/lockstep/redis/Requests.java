package dev.lockstep.redis;

import dev.lockstep.LockUnavailableException;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.Scheduler;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Requests that are tried more than once, and those who wait for their answers. Safe for use by many threads. */
final class Requests implements AutoCloseable {
    private final Link link;
    private final BackendContext context;
    private final Scheduler scheduler;
    private final Set<CompletableFuture<?>> unanswered = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    Requests(Link link, BackendContext context) {
        this.link = link;
        this.context = context;
        this.scheduler = context.scheduler();
    }

    /** A request to the server, until a deadline. */
    @FunctionalInterface
    interface Request<T> {
        T send(long deadlineNanos) throws Failure;
    }

    /** Tries a request until it is answered, or until the ttl has passed and the server has forgotten by itself. */
    <T> CompletableFuture<T> untilAnswered(String lockName, String what, Duration blockAtMost, Request<T> request) {
        long now = scheduler.nanoTime();
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
    <T> CompletableFuture<T> once(@Nullable String lockName, String what, Request<T> request) {
        Tries<T> tries = new Tries<>(lockName, what, request, link.deadline());
        tries.soon();
        return tries.answer;
    }

    LockUnavailableException closedFailure() {
        return new LockUnavailableException(null, "Client " + context.clientName() + " was closed.");
    }

    @Override
    public void close() {
        closed = true;
        unanswered.forEach(answer -> answer.completeExceptionally(closedFailure()));
    }

    private final class Tries<T> {
        private final @Nullable String lockName;
        private final String what;
        private final Request<T> request;
        private final long endNanos;
        private final CompletableFuture<T> answer = new CompletableFuture<>();
        private int failures;

        Tries(@Nullable String lockName, String what, Request<T> request, long endNanos) {
            this.lockName = lockName;
            this.what = what;
            this.request = request;
            this.endNanos = endNanos;
        }

        void soon() {
            if (unanswered.add(answer)) {
                answer.whenComplete((done, failure) -> unanswered.remove(answer));
            }
            if (closed) {
                answer.completeExceptionally(closedFailure());
            }
            long deadline = link.deadline();
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
                failures++;
                // The first time a connection may just have been idle for too long; the next is a new one.
                long delay = failures == 1
                        ? 0
                        : context.retryBackoff().delay(failures).toNanos();
                if (!e.mayPass() || scheduler.nanoTime() + delay - endNanos >= 0) {
                    answer.completeExceptionally(e.asLockstepException(lockName, what));
                } else if (delay == 0) {
                    soon();
                } else {
                    scheduler.schedule(delay, this::soon);
                }
            } catch (RuntimeException | Error e) {
                answer.completeExceptionally(
                        Failure.of(link.route().toString(), e).asLockstepException(lockName, what));
            }
        }
    }
}
