package dev.lockstep.cli;

import dev.lockstep.LeaderElection;
import dev.lockstep.LockClient;
import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockObserver;
import dev.lockstep.Term;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
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
            "Takes part in an election, and runs a command while this process leads. One process leads at a time.",
            "The command finds LOCKSTEP_NAME and LOCKSTEP_TOKEN, the number of the term, in its environment. If leadership is"
                    + " lost, the command gets TERM, and KILL after a grace period; then this process stands by again."
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
            description = "The command to run, and its arguments. Put -- before it.")
    private List<String> command = List.of();

    @Option(
            names = "--payload",
            paramLabel = "TEXT",
            description = "What others see of this process while it leads, such as its address (default: nothing).")
    private String payload = "";

    @Option(
            names = "--ttl",
            paramLabel = "SECONDS",
            description = "If this process is killed, another one leads after this time (default: ${DEFAULT-VALUE}).",
            defaultValue = "30")
    private Duration ttl = Duration.ofSeconds(30);

    @Option(
            names = "--grace",
            paramLabel = "SECONDS",
            description =
                    "How long the command may continue after TERM if leadership is lost (default: ${DEFAULT-VALUE}).",
            defaultValue = "10")
    private Duration grace = Duration.ofSeconds(10);

    /** Ends as the command does; after a loss, only if a signal has asked for that. */
    private final CompletableFuture<Integer> end = new CompletableFuture<>();

    @Override
    public Integer call() throws IOException {
        Programs.require(command.get(0));
        SignalRelay signals = new SignalRelay(Thread.currentThread());
        signals.install();
        try (LockClient client = engine.connect(builder -> builder.ttl(ttl).observer(new Standing()));
                LeaderElection election = stand(client, signals)) {
            return end.get();
        } catch (InterruptedException e) {
            return ExitCodes.SIGNAL + signals.endedBy();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof LockConfigurationException refused) {
                throw refused;
            }
            throw Programs.notExecutable(command.get(0));
        }
    }

    private LeaderElection stand(LockClient client, SignalRelay signals) {
        try {
            return client.election(name, payload, term -> lead(term, signals));
        } catch (IllegalArgumentException e) {
            throw engine.unusable(e);
        }
    }

    private void lead(Term term, SignalRelay signals) {
        if (end.isDone()) {
            return; // the last command has ended, and the election is about to be closed
        }
        GuardedProcess started = new GuardedProcess(grace, signals);
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
            } else if (signals.endedBy() != 0) {
                end.complete(ExitCodes.SIGNAL + signals.endedBy());
            }
        } catch (IOException e) {
            end.completeExceptionally(e);
        } catch (InterruptedException e) {
            end.complete(ExitCodes.SIGNAL + signals.endedBy()); // a signal came first
        }
    }

    /**
     * An interrupt means that leadership was lost: the command has been sent TERM, and this still waits for it to end.
     */
    private static int awaitEnd(GuardedProcess started) {
        while (true) {
            try {
                return started.await();
            } catch (InterruptedException e) {
                // Wait again.
            }
        }
    }

    /** Reports that this process cannot stand: an election tries again and again, and only logs why. */
    private final class Standing implements LockObserver, LockObserver.CallObserver {
        private final AtomicBoolean reported = new AtomicBoolean();

        @Override
        public LockObserver.CallObserver callStarted(Call call) {
            return this;
        }

        @Override
        public void callEnded(CallEnd how) {
            Throwable failure = how.failure().orElse(null);
            if (failure instanceof LockConfigurationException) {
                end.completeExceptionally(failure);
            } else if (failure == null) {
                reported.set(false);
            } else if (!end.isDone() && reported.compareAndSet(false, true)) {
                report("cannot stand in the election '" + name + "', and tries again: " + failure.getMessage());
            }
        }
    }

    private void report(String message) {
        spec.commandLine().getErr().println("lockstep: " + message);
    }
}
