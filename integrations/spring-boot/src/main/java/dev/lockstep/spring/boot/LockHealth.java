package dev.lockstep.spring.boot;

import dev.lockstep.EngineInfo;
import dev.lockstep.LockClient;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Whether the engines of the lock clients answer, within a time of its own. The same for all versions of Spring Boot. Safe for
 * use by many threads.
 */
final class LockHealth {
    private final Map<String, LockClient> clients;
    private final LockstepProperties.Health settings;
    private final Map<String, CompletableFuture<EngineInfo>> asking = new LinkedHashMap<>();

    /** Each request has a thread of its own, at most one for each client, and ends with the client's request timeout. */
    private final Executor executor = work -> {
        Thread thread = new Thread(work, "lockstep-health");
        thread.setDaemon(true);
        thread.start();
    };

    LockHealth(Map<String, LockClient> clients, LockstepProperties.Health settings) {
        this.clients = clients;
        this.settings = settings;
    }

    /**
     * What was found.
     *
     * @param status the worst of all clients
     * @param details of the only client, or of each by name
     */
    record Report(String status, Map<String, Object> details) {}

    Report check() {
        String worst = "UP";
        Map<String, Object> details = new LinkedHashMap<>();
        for (Map.Entry<String, LockClient> client : clients.entrySet()) {
            Map<String, Object> found = clients.size() == 1 ? details : new LinkedHashMap<>();
            String status = check(client.getKey(), client.getValue(), found);
            if (clients.size() > 1) {
                found.put("status", status);
                details.put(client.getKey(), found);
            }
            if (!status.equals("UP") && !worst.equals("DOWN")) {
                worst = status;
            }
        }
        return new Report(worst, details);
    }

    private String check(String name, LockClient client, Map<String, Object> details) {
        boolean fallback = client.inFallback();
        if (fallback) {
            details.put("fallback", true);
        }
        String error;
        try {
            EngineInfo info = ask(name, client).get(settings.getTimeout().toMillis(), TimeUnit.MILLISECONDS);
            details.put("engine", info.product());
            details.put("version", info.version());
            return fallback ? settings.getFallbackStatus() : "UP";
        } catch (TimeoutException e) {
            error = "no answer within " + settings.getTimeout();
        } catch (ExecutionException e) {
            error = message(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            error = "interrupted";
        }
        details.put("error", error);
        return "DOWN";
    }

    private static String message(@Nullable Throwable cause) {
        return cause == null ? "unknown" : cause.getClass().getSimpleName() + ": " + cause.getMessage();
    }

    /** Asks the engine, unless it has been asked and has not answered yet. */
    private synchronized CompletableFuture<EngineInfo> ask(String name, LockClient client) {
        CompletableFuture<EngineInfo> known = asking.get(name);
        if (known != null && !known.isDone()) {
            return known;
        }
        CompletableFuture<EngineInfo> answer = CompletableFuture.supplyAsync(client::describe, executor);
        asking.put(name, answer);
        return answer;
    }
}
