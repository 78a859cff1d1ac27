package dev.lockstep.cli;

import dev.lockstep.LockClient;
import dev.lockstep.temp.SqliteLibrary;
import java.time.Duration;
import java.util.function.UnaryOperator;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options that select the engine and the namespace. */
final class EngineOptions {
    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec = CommandSpec.create();

    @Option(
            names = "--url",
            paramLabel = "URL",
            description =
                    "The engine, such as redis://localhost:6379 (default: the environment's LOCKSTEP_URL, which also keeps"
                            + " credentials out of the process list).")
    private @Nullable String url;

    @Option(
            names = "--namespace",
            paramLabel = "NAME",
            description = "The namespace of the locks (default: the environment's LOCKSTEP_NAMESPACE, or lockstep).",
            defaultValue = "${env:LOCKSTEP_NAMESPACE:-lockstep}")
    private String namespace = "lockstep";

    @Option(
            names = "--timeout",
            paramLabel = "SECONDS",
            description = "How long to wait for an answer from the engine (default: ${DEFAULT-VALUE}).",
            defaultValue = "5")
    private Duration timeout = Duration.ofSeconds(5);

    /** The URL to connect to: the parameter, the option or the environment variable, whichever is given first. */
    String url(@Nullable String parameter) {
        String given = givenUrl(parameter);
        if (given == null) {
            throw new ParameterException(spec.commandLine(), "no engine: give a URL or set LOCKSTEP_URL");
        }
        return given;
    }

    /** As {@link #url}, or null if none is given. */
    @Nullable
    String givenUrl(@Nullable String parameter) {
        for (String candidate : new @Nullable String[] {parameter, url, System.getenv("LOCKSTEP_URL")}) {
            if (candidate != null && !candidate.isBlank()) {
                return candidate;
            }
        }
        return null;
    }

    String namespace() {
        return namespace;
    }

    Duration timeout() {
        return timeout;
    }

    LockClient connect() {
        return connect(builder -> builder);
    }

    LockClient connect(UnaryOperator<LockClient.Builder> more) {
        return connect(url(null), more);
    }

    /** Connects. The client releases its locks when this process ends, unless it is killed. */
    LockClient connect(String target, UnaryOperator<LockClient.Builder> more) {
        silenceDrivers();
        SqliteLibrary.loadFor(target);
        try {
            LockClient client = more.apply(LockClient.builder()
                            .url(target)
                            .namespace(namespace)
                            .requestTimeout(timeout))
                    .connect();
            Runtime.getRuntime().addShutdownHook(new Thread(client::close, "lockstep-close"));
            return client;
        } catch (IllegalArgumentException e) {
            throw unusable(e);
        }
    }

    /** Turns off the loggers of drivers that use java.util.logging, which would print to standard error. */
    static void silenceDrivers() {
        if ("off".equals(System.getProperty(Main.LOG_LEVEL))) {
            Logger.getLogger("").setLevel(Level.OFF);
        }
    }

    /** Reports a name or namespace that no lock can have as a mistake on the command line. */
    ParameterException unusable(IllegalArgumentException e) {
        return new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
    }
}
