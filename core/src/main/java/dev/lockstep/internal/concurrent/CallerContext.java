package dev.lockstep.internal.concurrent;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

/**
 * The logging context (MDC) of a thread that gives Lockstep a call-back: the call-back logs with it, in whichever thread it
 * runs. Costs a look at the context if that is empty.
 */
public final class CallerContext {
    private final Map<String, String> context;

    private CallerContext(Map<String, String> context) {
        this.context = context;
    }

    /** Null if the calling thread has none. */
    private static @Nullable CallerContext current() {
        Map<String, String> context = MDC.getCopyOfContextMap();
        return context == null || context.isEmpty() ? null : new CallerContext(context);
    }

    /** The context of the calling thread, for a task that may fail. */
    public static CallerContext ofCaller() {
        CallerContext caller = current();
        return caller == null ? new CallerContext(Map.of()) : caller;
    }

    /** A task that may fail. */
    @FunctionalInterface
    public interface Task {
        void run() throws Exception;
    }

    /** Runs a task in this context. */
    public void call(Task task) throws Exception {
        Map<String, String> before = MDC.getCopyOfContextMap();
        MDC.setContextMap(context);
        try {
            task.run();
        } finally {
            restore(before);
        }
    }

    public static <T> Consumer<T> carry(Consumer<T> action) {
        CallerContext caller = current();
        return caller == null ? action : value -> caller.run(() -> action.accept(value));
    }

    public static <T extends @Nullable Object, U extends @Nullable Object> BiConsumer<T, U> carry(
            BiConsumer<T, U> action) {
        CallerContext caller = current();
        return caller == null ? action : (one, other) -> caller.run(() -> action.accept(one, other));
    }

    /** A future whose call-backs have the context of the calling thread. */
    public static CompletableFuture<Void> carry(CompletableFuture<Void> future) {
        CallerContext caller = future.isDone() ? null : current();
        if (caller == null) {
            return future;
        }
        CompletableFuture<Void> carried = new CompletableFuture<>();
        future.whenComplete((done, failure) -> caller.run(() -> {
            if (failure == null) {
                carried.complete(done);
            } else {
                carried.completeExceptionally(failure);
            }
        }));
        return carried;
    }

    private void run(Runnable task) {
        Map<String, String> before = MDC.getCopyOfContextMap();
        MDC.setContextMap(context);
        try {
            task.run();
        } finally {
            restore(before);
        }
    }

    private static void restore(@Nullable Map<String, String> before) {
        if (before == null) {
            MDC.clear();
        } else {
            MDC.setContextMap(before);
        }
    }
}
