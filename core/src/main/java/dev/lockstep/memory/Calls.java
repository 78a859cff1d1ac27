package dev.lockstep.memory;

import dev.lockstep.LockUnavailableException;
import dev.lockstep.spi.Scheduler;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The requests of one client that expect a reply, and how long they wait for it. Safe for use by many threads. */
final class Calls {
    private final Link link;
    private final Scheduler scheduler;
    private final Set<CompletableFuture<?>> unanswered = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    Calls(Link link, Scheduler scheduler) {
        this.link = link;
        this.scheduler = scheduler;
    }

    /**
     * Does work in the engine. Without a reply in time the outcome is unknown.
     *
     * @param lockName the lock it is about, if any
     * @param what the name of the work, for people
     * @param limit how long to wait for the reply
     * @param work runs at the engine; not any more once the limit has passed
     */
    <T extends @Nullable Object> CompletableFuture<T> call(
            @Nullable String lockName, String what, Duration limit, Supplier<T> work) {
        CompletableFuture<T> reply = new CompletableFuture<>();
        link.toEngine(() -> {
            if (!reply.isDone()) {
                T result = work.get();
                link.toClient(() -> reply.complete(result));
            }
        });
        if (!reply.isDone()) {
            expect(reply, lockName, what, limit);
        }
        return reply;
    }

    private void expect(CompletableFuture<?> reply, @Nullable String lockName, String what, Duration limit) {
        unanswered.add(reply);
        Scheduler.Timer timer = scheduler.schedule(
                limit.toNanos(),
                () -> reply.completeExceptionally(new LockUnavailableException(
                        lockName,
                        "No reply to " + what + " from the memory engine within " + limit
                                + ": a fault is simulated.")));
        reply.whenComplete((result, failure) -> {
            timer.cancel();
            unanswered.remove(reply);
        });
        if (closed) {
            reply.completeExceptionally(closedFailure());
        }
    }

    /** Stops expecting replies. The link must have been cut before. */
    void close() {
        closed = true;
        unanswered.forEach(reply -> reply.completeExceptionally(closedFailure()));
    }

    private static LockUnavailableException closedFailure() {
        return new LockUnavailableException(null, "The client was closed before the memory engine replied.");
    }
}
