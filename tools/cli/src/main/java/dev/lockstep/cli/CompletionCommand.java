package dev.lockstep.cli;

import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Prints a script that teaches a shell to complete the command. */
@Command(
        name = "completion",
        description = {"Prints completion for bash and zsh.", "To use it: source <(lockstep completion)"})
final class CompletionCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() {
        spec.commandLine()
                .getOut()
                .print(AutoComplete.bash("lockstep", spec.root().commandLine()));
        return ExitCodes.OK;
    }
}
