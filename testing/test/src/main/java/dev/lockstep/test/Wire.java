package dev.lockstep.test;

import dev.lockstep.LockUnavailableException;
import dev.lockstep.spi.BackendContext;
import dev.lockstep.spi.Scheduler;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The connection between a client and the engine. While the engine is unreachable it delays all messages. Safe for use
 * by many threads.
 */
final class Wire {
    private final BackendContext context;
    private final List<Runnable> heldUp = new ArrayList<>(); // guarded by this
    private boolean away; // guarded by this
    private long awaySinceNanos; // guarded by this

    Wire(BackendContext context) {
        this.context = context;
    }

    synchronized void takeAway() {
        if (!away) {
            away = true;
            awaySinceNanos = context.scheduler().nanoTime();
        }
    }

    void bringBack() {
        List<Runnable> tasks;
        synchronized (this) {
            away = false;
            tasks = List.copyOf(heldUp);
            heldUp.clear();
        }
        tasks.forEach(Runnable::run);
    }

    synchronized boolean isAway() {
        return away;
    }

    /** When the client last heard of the engine, given what the real backend says. */
    synchronized long lastContactNanos(long real) {
        return away && real - awaySinceNanos > 0 ? awaySinceNanos : real;
    }

    /** Runs a task now, or when the engine is back. */
    void carry(Runnable task) {
        synchronized (this) {
            if (away) {
                heldUp.add(task);
                return;
            }
        }
        task.run();
    }

    /** Sends a request now, or when the engine is back; or after a time, when the engine has forgotten what it is about. */
    <T> CompletionStage<T> send(long forgottenAfterNanos, Supplier<CompletionStage<T>> request) {
        if (!isAway()) {
            return request.get();
        }
        CompletableFuture<T> answer = new CompletableFuture<>();
        AtomicBoolean sent = new AtomicBoolean();
        Runnable once = () -> {
            if (sent.compareAndSet(false, true)) {
                pass(request, answer);
            }
        };
        context.scheduler().schedule(forgottenAfterNanos, once);
        carry(once);
        return answer;
    }

    /** Makes a request that is useless after the request timeout. */
    <T> CompletionStage<T> ask(@Nullable String lockName, Supplier<CompletionStage<T>> question) {
        if (!isAway()) {
            return question.get();
        }
        CompletableFuture<T> answer = new CompletableFuture<>();
        Scheduler.Timer timer = context.scheduler()
                .schedule(
                        context.requestTimeout().toNanos(),
                        () -> answer.completeExceptionally(
                                new LockUnavailableException(lockName, "The test took the engine away.")));
        carry(() -> {
            timer.cancel();
            if (!answer.isDone()) {
                pass(question, answer);
            }
        });
        return answer;
    }

    private static <T> void pass(Supplier<CompletionStage<T>> request, CompletableFuture<T> answer) {
        try {
            request.get().whenComplete((value, failure) -> {
                if (failure == null) {
                    answer.complete(value);
                } else {
                    answer.completeExceptionally(failure);
                }
            });
        } catch (RuntimeException e) {
            answer.completeExceptionally(e);
        }
    }
}
