package dev.lockstep.spring.boot;

import dev.lockstep.EngineInfo;
import dev.lockstep.LockClient;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Whether the engines of the lock clients answer, within a time of its own. The same for all versions of Spring Boot. Safe for
 * use by many threads.
 */
final class LockHealth {
    private final Map<String, LockClient> clients;
    private final LockstepProperties.Health settings;
    private final EngineQuestions questions;

    LockHealth(Map<String, LockClient> clients, EngineQuestions questions, LockstepProperties.Health settings) {
        this.clients = clients;
        this.questions = questions;
        this.settings = settings;
    }

    /**
     * The result.
     *
     * @param status the worst of all clients
     * @param details of the only client, or of each by name
     */
    record Report(String status, Map<String, Object> details) {}

    Report check() {
        Map<String, EngineQuestions.Answer> answers = questions.ask();
        String worst = "UP";
        Map<String, Object> details = new LinkedHashMap<>();
        for (Map.Entry<String, LockClient> client : clients.entrySet()) {
            Map<String, Object> found = clients.size() == 1 ? details : new LinkedHashMap<>();
            EngineQuestions.Answer answer = answers.get(client.getKey());
            String status = answer == null ? "DOWN" : check(client.getValue(), answer, found);
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

    private String check(LockClient client, EngineQuestions.Answer answer, Map<String, Object> details) {
        boolean fallback = client.inFallback();
        if (fallback) {
            details.put("fallback", true);
        }
        EngineInfo info = answer.info();
        if (info == null) {
            details.put("error", answer.error());
            return "DOWN";
        }
        details.put("engine", info.product());
        details.put("version", info.version());
        return fallback ? settings.getFallbackStatus() : "UP";
    }
}
