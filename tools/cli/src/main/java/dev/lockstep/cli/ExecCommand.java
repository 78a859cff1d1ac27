package dev.lockstep.cli;

import dev.lockstep.DistributedLock;
import dev.lockstep.DistributedSemaphore;
import dev.lockstep.Lease;
import dev.lockstep.LockClient;
import dev.lockstep.LockLostException;
import dev.lockstep.LockOptions;
import dev.lockstep.Permit;
import dev.lockstep.ReleaseNotConfirmedException;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
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
            "Acquires a lock, runs a command, releases the lock, and exits with the command's code.",
            "The command finds LOCKSTEP_NAME and LOCKSTEP_TOKEN in its environment, and with --permits LOCKSTEP_SLOT. Signals"
                    + " are passed on to it. If the lock is lost, the command gets TERM, and KILL after a grace period."
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
            description = "The command to run, and its arguments. Put -- before it.")
    private List<String> command = List.of();

    @Option(
            names = "--wait",
            paramLabel = "SECONDS",
            description = "How long to wait for the lock; then exit 75 (default: no limit).")
    private @Nullable Duration wait;

    @Option(names = "--try", description = "Do not wait for the lock: if it is busy, exit 75.")
    private boolean tryOnly;

    @Option(names = "--fair", description = "First come, first served, across all processes.")
    private boolean fair;

    @Option(names = "--shared", description = "Acquire it as a reader, together with other readers.")
    private boolean shared;

    @Option(
            names = "--permits",
            paramLabel = "N",
            description = "Use a semaphore instead of a lock: at most N commands of that name run at once.")
    private @Nullable Integer permits;

    @Option(
            names = "--max-hold",
            paramLabel = "SECONDS",
            description = "Maximum hold time; the lock is lost after it (default: no limit).")
    private @Nullable Duration maxHold;

    @Option(
            names = "--min-hold",
            paramLabel = "SECONDS",
            description = "Minimum hold time. The lock stays held after the command has ended; on Redlock, etcd and"
                    + " ZooKeeper only until this process has ended (default: none).")
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
            description =
                    "How long the command may continue after TERM if the lock is lost (default: ${DEFAULT-VALUE}).",
            defaultValue = "10")
    private Duration grace = Duration.ofSeconds(10);

    @Override
    public Integer call() throws IOException {
        if (tryOnly && wait != null) {
            throw new ParameterException(spec.commandLine(), "--try and --wait cannot be combined");
        }
        if (shared && permits != null) {
            throw new ParameterException(spec.commandLine(), "--shared and --permits cannot be combined");
        }
        Programs.require(command.get(0));
        try (LockClient client = engine.connect(builder -> builder.ttl(ttl))) {
            Acquisition acquisition =
                    permits == null ? acquisition(lock(client)) : acquisition(semaphore(client, permits));
            SignalRelay signals = new SignalRelay(Thread.currentThread());
            signals.install();
            try {
                Optional<? extends Lease> held = acquisition.acquire();
                return held.isPresent() ? runHolding(held.get(), new GuardedProcess(grace, signals)) : busy(client);
            } catch (InterruptedException e) {
                return ExitCodes.SIGNAL + signals.endedBy();
            }
        }
    }

    /** One way to acquire a lock or a permit, as the options say. */
    private interface Acquisition {
        Optional<? extends Lease> acquire() throws InterruptedException;
    }

    private DistributedLock lock(LockClient client) {
        try {
            return shared ? client.readWriteLock(name, options()).readLock() : client.lock(name, options());
        } catch (IllegalArgumentException e) {
            throw engine.unusable(e);
        }
    }

    private DistributedSemaphore semaphore(LockClient client, int count) {
        try {
            return client.semaphore(name, count, options());
        } catch (IllegalArgumentException e) {
            throw engine.unusable(e);
        }
    }

    private LockOptions options() {
        LockOptions options = LockOptions.defaults();
        options = fair ? options.fair() : options;
        options = maxHold == null ? options : options.maxHold(maxHold);
        return minHold == null ? options : options.minHold(minHold);
    }

    private Acquisition acquisition(DistributedLock lock) {
        if (tryOnly) {
            return lock::tryAcquire;
        }
        Duration atMost = wait;
        return atMost == null ? () -> Optional.of(lock.acquire()) : () -> lock.tryAcquire(atMost);
    }

    private Acquisition acquisition(DistributedSemaphore semaphore) {
        if (tryOnly) {
            return semaphore::tryAcquire;
        }
        Duration atMost = wait;
        return atMost == null ? () -> Optional.of(semaphore.acquire()) : () -> semaphore.tryAcquire(atMost);
    }

    private int busy(LockClient client) {
        if (permits != null) {
            report("all permits of semaphore '" + name + "' are in use, or others wait for them");
            return ExitCodes.BUSY;
        }
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
                report((permits == null ? "the lock '" : "the permit of semaphore '") + name + "' was lost: "
                        + reason.explanation());
                process.onLost();
            });
            process.start(command, environment(held));
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

    private Map<String, String> environment(Lease held) {
        Map<String, String> environment = new HashMap<>();
        environment.put("LOCKSTEP_NAME", name);
        environment.put("LOCKSTEP_TOKEN", Long.toUnsignedString(held.token()));
        if (held instanceof Permit permit) {
            environment.put("LOCKSTEP_SLOT", Integer.toString(permit.slot()));
        }
        return environment;
    }

    private void giveBack(Lease held) {
        try {
            held.close();
        } catch (LockLostException e) {
            // The loss has been reported already.
        } catch (ReleaseNotConfirmedException e) {
            report(e.getMessage() + " It is free in " + ttl.toSeconds() + " s at the latest.");
        }
    }

    private void report(String message) {
        spec.commandLine().getErr().println("lockstep: " + message);
    }
}
