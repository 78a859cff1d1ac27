package dev.lockstep.spring.boot;

import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockUnavailableException;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * Explains why a lock client or a method with {@code @Locked} ended the start, and what to do. It comes first, since Spring Boot's
 * own analyzers explain errors of a client library, too, but know nothing of Lockstep.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class LockFailureAnalyzer implements FailureAnalyzer {
    @Override
    public @Nullable FailureAnalysis analyze(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = next(cause)) {
            FailureAnalysis analysis = explain(failure, cause);
            if (analysis != null) {
                return analysis;
            }
        }
        return null;
    }

    private static @Nullable Throwable next(Throwable cause) {
        return cause.getCause() == cause ? null : cause.getCause();
    }

    private static @Nullable FailureAnalysis explain(Throwable failure, Throwable cause) {
        String message = String.valueOf(cause.getMessage());
        if (cause instanceof NoEngineException) {
            return new FailureAnalysis(
                    message,
                    "Set lockstep.url, for example redis://localhost:6379 with dev.lockstep:lockstep-redis, or add"
                            + " dev.lockstep:lockstep-jdbc to use the application's DataSource. If there is only one"
                            + " process, set lockstep.url=memory:. To do without locks, set lockstep.enabled=false.",
                    failure);
        }
        if (cause instanceof LockUnavailableException) {
            return new FailureAnalysis(
                    "The engine of the locks cannot be reached. " + message,
                    "Check that the server runs and that lockstep.url is right. To start without it, set"
                            + " lockstep.lazy-connect=true, or configure lockstep.fallback.to.",
                    failure);
        }
        if (cause instanceof LockConfigurationException) {
            return new FailureAnalysis("The locks are not set up right. " + message, action(message), failure);
        }
        if (cause instanceof IllegalStateException && message.startsWith("@Locked ")) {
            return new FailureAnalysis(message, "Change the method or its annotation as the message says.", failure);
        }
        if (cause instanceof LinkageError && isOfBackend(cause)) {
            return new FailureAnalysis(
                    "A client library on the class path does not fit Lockstep's backend. " + cause,
                    "Use the versions that your Spring Boot manages: 'mvn dependency:tree' shows where another version comes"
                            + " from. The versions that work are listed in docs/adr/0012-versions-of-client-libraries.md.",
                    failure);
        }
        return null;
    }

    private static String action(String message) {
        if (message.startsWith("No engine for") && message.contains("is known")) {
            return "Let lockstep.url begin with the scheme of an engine, as in redis://localhost:6379 or"
                    + " jdbc:postgresql://localhost/db. If it does, add the artifact of that engine.";
        }
        if (message.contains("on the class path")) {
            return "Add the artifact that the message names, or change lockstep.url.";
        }
        if (message.contains("The tables ")) {
            return "Create the tables (the statements are in lockstep-jdbc, dev/lockstep/jdbc/*.sql), or let Lockstep do it:"
                    + " set lockstep.jdbc.create-schema=true for the application's DataSource, or add lockstep.createSchema=true to"
                    + " the URL.";
        }
        if (message.contains("version of Jedis")) {
            return "Change the version of redis.clients:jedis.";
        }
        return "Change the server or the properties lockstep.* as the message says.";
    }

    private static boolean isOfBackend(Throwable cause) {
        for (StackTraceElement element : cause.getStackTrace()) {
            if (element.getClassName().startsWith("dev.lockstep.")) {
                return !element.getClassName().startsWith("dev.lockstep.spring.");
            }
        }
        return false;
    }
}
