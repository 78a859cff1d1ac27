package dev.lockstep.internal.concurrent;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The futures of requests. */
public final class Futures {
    private Futures() {}

    /** The answer to a request. If the call that makes the request throws, that is the answer. */
    public static <T extends @Nullable Object> CompletableFuture<T> answerTo(Supplier<CompletionStage<T>> request) {
        try {
            return request.get().toCompletableFuture();
        } catch (RuntimeException | Error e) {
            return CompletableFuture.failedFuture(e);
        }
    }
}
