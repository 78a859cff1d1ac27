package dev.lockstep.internal.client;

import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockUnavailableException;
import dev.lockstep.internal.turnstile.TurnstileContext;
import dev.lockstep.spi.Answers;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Questions of operators to the engine, answered in the calling thread. Safe for use by many threads. */
record EngineQuestions(TurnstileContext context) {
    /** Asks about a lock, and waits for the answer for the request timeout. */
    <T> T askAbout(String lockName, String what, Supplier<CompletionStage<T>> question) {
        CompletableFuture<T> answer = answer(lockName, what, question);
        try {
            return answer.join();
        } catch (CompletionException e) {
            throw context.failures().failure(lockName, e);
        }
    }

    /** Asks what concerns no single lock, and waits for the answer for the request timeout. */
    <T> T ask(String what, Supplier<CompletionStage<T>> question) {
        CompletableFuture<T> answer = answer(null, what, question);
        try {
            return answer.join();
        } catch (CompletionException e) {
            throw failure(what, e.getCause());
        }
    }

    /** The answer, which is there. */
    private <T> CompletableFuture<T> answer(
            @Nullable String lockName, String what, Supplier<CompletionStage<T>> question) {
        context.ensureOpen();
        CompletableFuture<T> answer;
        try {
            answer = question.get().toCompletableFuture();
        } catch (RuntimeException e) {
            answer = CompletableFuture.failedFuture(e);
        }
        if (!Answers.await(answer, context.requestTimeout())) {
            throw new LockUnavailableException(
                    lockName,
                    what + ": " + context.engine() + " did not answer within "
                            + context.requestTimeout().toMillis() + " ms.");
        }
        return answer;
    }

    private static RuntimeException failure(String what, @Nullable Throwable cause) {
        String message = what + " failed: " + (cause == null ? "for an unknown reason" : cause.getMessage());
        if (cause instanceof IllegalArgumentException) {
            return new IllegalArgumentException(message, cause);
        }
        return cause instanceof LockConfigurationException
                ? new LockConfigurationException(null, message, cause)
                : new LockUnavailableException(null, message, cause);
    }
}
