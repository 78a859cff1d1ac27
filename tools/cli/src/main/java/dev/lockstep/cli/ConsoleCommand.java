package dev.lockstep.cli;

import dev.lockstep.LockClient;
import dev.lockstep.console.Console;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Serves a web page that shows the locks. */
@Command(
        name = "console",
        description = {
            "Serves a web page that shows who holds, who waits and what blocks whom, until Ctrl-C.",
            "It listens on loopback and is read-only, unless options say otherwise."
        })
final class ConsoleCommand implements Callable<Integer> {
    private static final String AUDIT_LEVEL = "org.slf4j.simpleLogger.log." + Console.AUDIT_LOGGER;
    private static final String TOKEN_VARIABLE = "LOCKSTEP_CONSOLE_TOKEN";

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private EngineOptions engine = new EngineOptions();

    @Mixin
    private Namespaces namespaces = new Namespaces();

    @Option(
            names = "--address",
            paramLabel = "HOST",
            description =
                    "The address to listen on (default: ${DEFAULT-VALUE}). Addresses other than loopback need a token.",
            defaultValue = "127.0.0.1")
    private String address = "127.0.0.1";

    @Option(
            names = "--port",
            paramLabel = "PORT",
            description = "The port to listen on; 0 for any (default: ${DEFAULT-VALUE}).",
            defaultValue = "8620")
    private int port = 8620;

    @Option(
            names = "--token-file",
            paramLabel = "FILE",
            description = "A file with the token that browsers must present as a password, 16 characters or more"
                    + " (default: the environment's " + TOKEN_VARIABLE + ").")
    private @Nullable Path tokenFile;

    @Option(
            names = "--host-name",
            paramLabel = "HOST",
            description = "A name under which browsers reach the console, such as that of a proxy. May be repeated.")
    private List<String> hostNames = new ArrayList<>();

    @Option(
            names = "--interval",
            paramLabel = "SECONDS",
            description = "How often to ask the engine; a second or more (default: ${DEFAULT-VALUE}).",
            defaultValue = "1")
    private Duration interval = Duration.ofSeconds(1);

    @Option(names = "--allow-release", description = "Let operators release locks by force.")
    private boolean allowRelease;

    @Override
    public Integer call() throws InterruptedException {
        if (allowRelease) {
            System.setProperty(AUDIT_LEVEL, "info"); // to standard error
            System.setProperty("org.slf4j.simpleLogger.showDateTime", "true");
            System.setProperty("org.slf4j.simpleLogger.dateTimeFormat", "yyyy-MM-dd'T'HH:mm:ss.SSSXXX");
        }
        try (LockClient client = engine.connect(LockClient.Builder::lazyConnect);
                Console console = start(client)) {
            PrintWriter out = spec.commandLine().getOut();
            out.println("Lockstep console: " + console.uri().orElseThrow()
                    + (allowRelease ? "  (locks can be released)" : "  (read-only)"));
            out.flush();
            new CountDownLatch(1).await(); // until a signal ends the process
        }
        return ExitCodes.OK;
    }

    private Console start(LockClient client) {
        String token = token();
        try {
            Console.Builder builder = Console.builder(client).interval(interval);
            hostNames.forEach(builder::hostName);
            if (token != null) {
                builder.token(token);
            }
            if (!namespaces.all()) {
                builder.namespace(engine.namespace());
            }
            if (allowRelease) {
                builder.allowRelease();
            }
            return builder.start(new InetSocketAddress(address, port));
        } catch (IllegalArgumentException | IllegalStateException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        } catch (IOException e) {
            throw new Refusal(
                    ExitCodes.FAILED, "cannot listen on " + address + ", port " + port + ": " + e.getMessage());
        }
    }

    private @Nullable String token() {
        if (tokenFile != null) {
            try {
                return Files.readString(tokenFile);
            } catch (IOException e) {
                throw new ParameterException(
                        spec.commandLine(), "cannot read the token file " + tokenFile + ": " + e, e);
            }
        }
        String variable = System.getenv(TOKEN_VARIABLE);
        return variable == null || variable.isBlank() ? null : variable;
    }
}
