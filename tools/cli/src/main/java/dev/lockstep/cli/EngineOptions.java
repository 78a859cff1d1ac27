package dev.lockstep.cli;

import dev.lockstep.LockClient;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Where the locks are. */
final class EngineOptions {
    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec = CommandSpec.create();

    @Option(
            names = "--url",
            paramLabel = "URL",
            description = "The engine, such as memory: (default: the environment's LOCKSTEP_URL, which also keeps"
                    + " credentials out of the process list).")
    private @Nullable String url;

    @Option(
            names = "--namespace",
            paramLabel = "NAME",
            description = "The namespace of the locks (default: ${DEFAULT-VALUE}).",
            defaultValue = "lockstep")
    private String namespace = "lockstep";

    @Option(
            names = "--timeout",
            paramLabel = "SECONDS",
            description = "How long to wait for an answer of the engine (default: ${DEFAULT-VALUE}).",
            defaultValue = "5")
    private double timeout;

    /** Where to connect: the first that is given of a parameter, the option and the environment. */
    String url(@Nullable String parameter) {
        for (String candidate : new @Nullable String[] {parameter, url, System.getenv("LOCKSTEP_URL")}) {
            if (candidate != null && !candidate.isBlank()) {
                return candidate;
            }
        }
        throw new ParameterException(spec.commandLine(), "no engine: give a URL or set LOCKSTEP_URL");
    }

    LockClient connect() {
        return connect(url(null));
    }

    LockClient connect(String target) {
        Duration requestTimeout = Duration.ofNanos((long) (timeout * 1e9));
        try {
            return LockClient.builder()
                    .url(target)
                    .namespace(namespace)
                    .requestTimeout(requestTimeout)
                    .connect();
        } catch (IllegalArgumentException e) {
            throw unusable(e);
        }
    }

    /** A name or namespace that no lock can have is a mistake on the command line. */
    ParameterException unusable(IllegalArgumentException e) {
        return new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
    }
}
