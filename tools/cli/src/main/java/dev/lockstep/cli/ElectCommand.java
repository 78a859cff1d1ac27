package dev.lockstep.cli;

import dev.lockstep.LeaderElection;
import dev.lockstep.LockClient;
import dev.lockstep.Term;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Runs any command while this process leads. */
@Command(
        name = "elect",
        customSynopsis = "lockstep elect [OPTIONS] NAME -- COMMAND [ARG...]",
        description = {
            "Stands in an election, and runs a command while this process leads: one of all that stand under that name.",
            "The command finds LOCKSTEP_NAME and LOCKSTEP_TOKEN, the number of the term, in its environment. If leadership is"
                    + " lost, the command gets TERM, and KILL after a time of grace; then this process stands by again."
                    + " If the command ends by itself, another process leads, and this one exits with the command's code."
        })
final class ElectCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private EngineOptions engine = new EngineOptions();

    @Parameters(index = "0", paramLabel = "NAME", description = "The election, which is also the name of its lock.")
    private String name = "";

    @Parameters(
            index = "1..*",
            arity = "1..*",
            paramLabel = "COMMAND",
            description = "What to run, and its arguments. Put -- before it.")
    private List<String> command = List.of();

    @Option(
            names = "--payload",
            paramLabel = "TEXT",
            description = "What others see of this process while it leads, such as its address (default: nothing).")
    private String payload = "";

    @Option(
            names = "--ttl",
            paramLabel = "SECONDS",
            description = "After how long another process leads if this one is killed (default: ${DEFAULT-VALUE}).",
            defaultValue = "30")
    private Duration ttl = Duration.ofSeconds(30);

    @Option(
            names = "--grace",
            paramLabel = "SECONDS",
            description =
                    "How long the command may go on after TERM if leadership is lost (default: ${DEFAULT-VALUE}).",
            defaultValue = "10")
    private Duration grace = Duration.ofSeconds(10);

    /** Ends as the command does, unless it ends because of a loss. */
    private final CompletableFuture<Integer> end = new CompletableFuture<>();

    /** The command of the present or the last term; before the first, one that only hears signals. */
    private volatile @Nullable GuardedProcess process;

    @Override
    public Integer call() throws IOException {
        Programs.require(command.get(0));
        Thread waiting = Thread.currentThread();
        process = new GuardedProcess(grace, waiting);
        try (LockClient client = engine.connect(builder -> builder.ttl(ttl));
                LeaderElection election = stand(client, waiting)) {
            return end.get();
        } catch (InterruptedException e) {
            return ExitCodes.SIGNAL + Objects.requireNonNull(process).endedBy();
        } catch (ExecutionException e) {
            throw Programs.notExecutable(command.get(0));
        }
    }

    private LeaderElection stand(LockClient client, Thread waiting) {
        try {
            return client.election(name, payload, term -> lead(term, new GuardedProcess(grace, waiting)));
        } catch (IllegalArgumentException e) {
            throw engine.unusable(e);
        }
    }

    private void lead(Term term, GuardedProcess started) {
        process = started;
        term.onLost(reason -> {
            report("leadership of '" + name + "' was lost: " + reason.explanation());
            started.onLost();
        });
        try {
            started.start(
                    command, Map.of("LOCKSTEP_NAME", name, "LOCKSTEP_TOKEN", Long.toUnsignedString(term.token())));
            int code = awaitEnd(started);
            if (term.isValid()) {
                end.complete(code);
            }
        } catch (IOException e) {
            end.completeExceptionally(e);
        } catch (InterruptedException e) {
            // A signal came first, and ends the wait.
        }
    }

    /** An interrupt says that leadership was lost: the command has been sent TERM, and its end is awaited all the same. */
    private static int awaitEnd(GuardedProcess started) {
        while (true) {
            try {
                return started.await();
            } catch (InterruptedException e) {
                // Once more.
            }
        }
    }

    private void report(String message) {
        spec.commandLine().getErr().println("lockstep: " + message);
    }
}
