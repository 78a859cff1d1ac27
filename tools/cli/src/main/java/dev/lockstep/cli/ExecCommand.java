package dev.lockstep.cli;

import dev.lockstep.DistributedLock;
import dev.lockstep.DistributedReadWriteLock;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockLostException;
import dev.lockstep.LockOptions;
import dev.lockstep.ReleaseNotConfirmedException;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Runs any command while a lock is held. */
@Command(
        name = "exec",
        customSynopsis = "lockstep exec [OPTIONS] NAME -- COMMAND [ARG...]",
        description = {
            "Takes a lock, runs a command, gives the lock back, and exits with the command's code.",
            "The command finds LOCKSTEP_NAME and LOCKSTEP_TOKEN in its environment. Signals are passed on to it. If the"
                    + " lock is lost, the command gets TERM, and KILL after a time of grace."
        })
final class ExecCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private EngineOptions engine = new EngineOptions();

    @Parameters(index = "0", paramLabel = "NAME", description = "The lock.")
    private String name = "";

    @Parameters(
            index = "1..*",
            arity = "1..*",
            paramLabel = "COMMAND",
            description = "What to run, and its arguments. Put -- before it.")
    private List<String> command = List.of();

    @Option(
            names = "--wait",
            paramLabel = "SECONDS",
            description = "How long to wait for the lock; then exit 75 (default: for ever).")
    private @Nullable Duration wait;

    @Option(names = "--try", description = "Do not wait for the lock: if it is busy, exit 75.")
    private boolean tryOnly;

    @Option(names = "--fair", description = "First come, first served, over all processes.")
    private boolean fair;

    @Option(names = "--shared", description = "Take it as a reader: together with others who do.")
    private boolean shared;

    @Option(
            names = "--max-hold",
            paramLabel = "SECONDS",
            description = "How long the command may hold the lock at most; then it is lost (default: for ever).")
    private @Nullable Duration maxHold;

    @Option(
            names = "--min-hold",
            paramLabel = "SECONDS",
            description = "How long the lock stays held at least, also after the command has ended; not after this"
                    + " process has ended on Redlock, etcd and ZooKeeper (default: none).")
    private @Nullable Duration minHold;

    @Option(
            names = "--ttl",
            paramLabel = "SECONDS",
            description = "How long the lock outlives this process if it is killed (default: ${DEFAULT-VALUE}).",
            defaultValue = "30")
    private Duration ttl = Duration.ofSeconds(30);

    @Option(
            names = "--grace",
            paramLabel = "SECONDS",
            description = "How long the command may go on after TERM if the lock is lost (default: ${DEFAULT-VALUE}).",
            defaultValue = "10")
    private Duration grace = Duration.ofSeconds(10);

    @Override
    public Integer call() throws IOException {
        if (tryOnly && wait != null) {
            throw new ParameterException(spec.commandLine(), "--try and --wait exclude each other");
        }
        Programs.require(command.get(0));
        try (LockClient client = engine.connect(builder -> builder.ttl(ttl))) {
            DistributedLock lock = lock(client);
            GuardedProcess process = new GuardedProcess(grace);
            try {
                Optional<Lease> held = acquire(lock);
                return held.isPresent() ? runHolding(held.get(), process) : busy(client);
            } catch (InterruptedException e) {
                return ExitCodes.SIGNAL + process.endedBy();
            }
        }
    }

    private DistributedLock lock(LockClient client) {
        try {
            LockOptions options = LockOptions.defaults();
            options = fair ? options.fair() : options;
            options = maxHold == null ? options : options.maxHold(maxHold);
            options = minHold == null ? options : options.minHold(minHold);
            if (!shared) {
                return client.lock(name, options);
            }
            DistributedReadWriteLock both = client.readWriteLock(name, options);
            return both.readLock();
        } catch (IllegalArgumentException e) {
            throw engine.unusable(e);
        }
    }

    private Optional<Lease> acquire(DistributedLock lock) throws InterruptedException {
        if (tryOnly) {
            return lock.tryAcquire();
        }
        return wait == null ? Optional.of(lock.acquire()) : lock.tryAcquire(wait);
    }

    private int busy(LockClient client) {
        String holder = client.inspect(name).holders().stream()
                .findFirst()
                .map(entry -> " by " + entry.holder())
                .orElse("");
        report("the lock '" + name + "' is held" + holder);
        return ExitCodes.BUSY;
    }

    private int runHolding(Lease held, GuardedProcess process) throws IOException, InterruptedException {
        try {
            held.onLost(reason -> {
                report("the lock '" + name + "' was lost: " + reason.explanation());
                process.onLost();
            });
            process.start(
                    command, Map.of("LOCKSTEP_NAME", name, "LOCKSTEP_TOKEN", Long.toUnsignedString(held.token())));
            int code = process.await();
            return held.isValid() ? code : ExitCodes.LOST;
        } catch (LockLostException e) {
            return ExitCodes.LOST;
        } catch (IOException e) {
            throw Programs.notExecutable(command.get(0));
        } finally {
            giveBack(held);
        }
    }

    private void giveBack(Lease held) {
        try {
            held.close();
        } catch (LockLostException e) {
            // Told already.
        } catch (ReleaseNotConfirmedException e) {
            report(e.getMessage() + " It is free in " + ttl.toSeconds() + " s at the latest.");
        }
    }

    private void report(String message) {
        spec.commandLine().getErr().println("lockstep: " + message);
    }
}
