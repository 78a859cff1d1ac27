package dev.lockstep.spring.boot;

import dev.lockstep.EngineInfo;
import dev.lockstep.LockClient;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Asks the engines of all clients at the same time what they are, within one time limit. Safe for use by many threads. */
final class EngineQuestions {
    private final Map<String, LockClient> clients;
    private final Duration timeout;
    private final Map<String, CompletableFuture<EngineInfo>> asked = new HashMap<>(); // guarded by this

    /** Each request has a thread of its own, at most one for each client, and ends with the client's request timeout. */
    private final Executor executor = work -> {
        Thread thread = new Thread(work, "lockstep-health");
        thread.setDaemon(true);
        thread.start();
    };

    EngineQuestions(Map<String, LockClient> clients, Duration timeout) {
        this.clients = clients;
        this.timeout = timeout;
    }

    /**
     * The answer of an engine.
     *
     * @param info what it is; null if there is no answer
     * @param error why there is no answer; empty if there is one
     */
    record Answer(@Nullable EngineInfo info, String error) {}

    /** Asks, and returns the answers by the clients' bean names. */
    Map<String, Answer> ask() {
        Map<String, CompletableFuture<EngineInfo>> asking = new LinkedHashMap<>();
        clients.forEach((name, client) -> asking.put(name, ask(name, client)));
        String silence = await(CompletableFuture.allOf(asking.values().toArray(CompletableFuture[]::new)));
        Map<String, Answer> answers = new LinkedHashMap<>();
        asking.forEach((name, answer) -> answers.put(name, answer(answer, silence)));
        return answers;
    }

    /** Asks one engine, unless it has been asked and has not answered yet. */
    private synchronized CompletableFuture<EngineInfo> ask(String name, LockClient client) {
        CompletableFuture<EngineInfo> known = asked.get(name);
        if (known != null && !known.isDone()) {
            return known;
        }
        CompletableFuture<EngineInfo> answer = CompletableFuture.supplyAsync(client::describe, executor);
        asked.put(name, answer);
        return answer;
    }

    /** Waits for all of them, and returns what to say of those that are not done. */
    private String await(CompletableFuture<Void> all) {
        try {
            all.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException | ExecutionException e) {
            // Each answer is looked at.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "interrupted";
        }
        return "no answer within " + timeout.toMillis() + " ms";
    }

    private static Answer answer(CompletableFuture<EngineInfo> answer, String silence) {
        if (!answer.isDone()) {
            return new Answer(null, silence);
        }
        try {
            return new Answer(answer.get(), "");
        } catch (ExecutionException e) {
            return new Answer(null, message(e.getCause()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new Answer(null, "interrupted");
        }
    }

    private static String message(@Nullable Throwable cause) {
        return cause == null ? "unknown" : cause.getClass().getSimpleName() + ": " + cause.getMessage();
    }
}
