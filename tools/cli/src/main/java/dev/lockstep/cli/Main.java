package dev.lockstep.cli;

import dev.lockstep.LockConfigurationException;
import dev.lockstep.LockUnavailableException;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** The {@code lockstep} command. Errors are one line on standard error, with a stack trace only by {@code --debug}. */
@Command(
        name = "lockstep",
        description = "Acquires, inspects and benchmarks distributed locks, on any engine.",
        mixinStandardHelpOptions = true,
        scope = ScopeType.INHERIT,
        versionProvider = Version.class,
        subcommands = {
            DemoCommand.class,
            ExecCommand.class,
            ElectCommand.class,
            WorkerCommand.class,
            PingCommand.class,
            ListCommand.class,
            InspectCommand.class,
            WatchCommand.class,
            DeadlocksCommand.class,
            ConsoleCommand.class,
            ReleaseCommand.class,
            BenchCommand.class,
            ExplainCommand.class,
            CompletionCommand.class,
        },
        synopsisSubcommandLabel = "COMMAND",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "  0:done",
            "  1:an unexpected error, or a demo or torture did not end as it should",
            "  2:the command line or the URL is invalid",
            "  3:deadlocks: there is a deadlock",
            " 69:the engine did not answer",
            " 74:the output could not be written",
            " 75:exec: the lock is busy; release: it has changed hands, or is held in another namespace",
            " 76:exec: the lock was lost",
            "126:exec, elect: the command cannot be executed",
            "127:exec, elect: the command was not found",
            "128:plus the number of a signal: ended by it, such as 130 by Ctrl-C",
        })
public final class Main implements Runnable {
    static final String LOG_LEVEL = "org.slf4j.simpleLogger.defaultLogLevel";

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(
            names = "--debug",
            scope = ScopeType.INHERIT,
            description = "Show log output, and the stack trace of an error.")
    private boolean debug;

    private Main() {}

    /**
     * Runs the command and ends the JVM with its exit code.
     *
     * @param args the command line
     */
    public static void main(String[] args) {
        Output out = new Output(new FileOutputStream(FileDescriptor.out));
        PrintWriter err = utf8(new FileOutputStream(FileDescriptor.err));
        int code = run(utf8(out), err, args);
        System.exit(out.failure().isEmpty() ? code : unwritten(out.failure(), err));
    }

    /** Stops without an error if the reader of the output has gone away. */
    private static int unwritten(String failure, PrintWriter err) {
        if (failure.contains("Broken pipe")) {
            return ExitCodes.BROKEN_PIPE;
        }
        err.println("lockstep: the output could not be written: " + failure);
        return ExitCodes.NOT_WRITTEN;
    }

    /** Runs the command, and returns its exit code. */
    static int run(PrintWriter out, PrintWriter err, String... args) {
        Main main = new Main();
        CommandLine command = commandLine(main)
                .setOut(out)
                .setErr(err)
                .setParameterExceptionHandler((e, unused) -> main.refuse(e))
                .setExecutionExceptionHandler((e, failed, unused) -> main.fail(e, failed.getErr()));
        command.setExecutionStrategy(parsed -> {
            // Read when the first logger is made, which is when a client is.
            System.setProperty(LOG_LEVEL, main.debug ? "debug" : "off");
            return new CommandLine.RunLast().execute(parsed);
        });
        int code = command.execute(args);
        out.flush();
        err.flush();
        return code;
    }

    /**
     * The commands and options.
     *
     * @return the command with its subcommands
     */
    public static CommandLine commandLine() {
        return commandLine(new Main());
    }

    private static CommandLine commandLine(Main main) {
        return new CommandLine(main)
                .addSubcommand(Addon.torture())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .registerConverter(Duration.class, new Seconds());
    }

    /** Without a subcommand there is nothing to do. */
    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "a command is missing");
    }

    private int refuse(ParameterException e) {
        CommandLine command = e.getCommandLine();
        report(e, command.getErr(), " (see '" + command.getCommandSpec().qualifiedName() + " --help')");
        return ExitCodes.USAGE;
    }

    private int fail(Exception e, PrintWriter err) {
        report(e, err, "");
        if (e instanceof Refusal refusal) {
            return refusal.exitCode();
        }
        if (e instanceof LockConfigurationException) {
            return ExitCodes.USAGE;
        }
        return e instanceof LockUnavailableException ? ExitCodes.UNAVAILABLE : ExitCodes.FAILED;
    }

    private void report(Exception e, PrintWriter err, String hint) {
        String message = e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
        err.println("lockstep: " + message.strip().replaceAll("\\s*\\R\\s*", " ") + hint);
        if (debug) {
            e.printStackTrace(err);
        }
    }

    private static PrintWriter utf8(OutputStream stream) {
        return new PrintWriter(stream, true, StandardCharsets.UTF_8);
    }
}
