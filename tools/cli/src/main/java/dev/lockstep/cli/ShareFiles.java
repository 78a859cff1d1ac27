package dev.lockstep.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** Writes what the archive has beside the program: completion for shells, and manual pages. The build runs it. */
final class ShareFiles {
    private ShareFiles() {}

    /**
     * Writes the files.
     *
     * @param args the folder, which is made if it is not there
     * @throws IOException if a file cannot be written
     */
    public static void main(String[] args) throws IOException {
        Path folder = Path.of(args[0]);
        CommandLine command = Main.commandLine();
        write(folder.resolve("bash-completion/completions/lockstep"), AutoComplete.bash("lockstep", command));
        writeManuals(folder.resolve("man/man1"), command);
    }

    private static void writeManuals(Path folder, CommandLine command) throws IOException {
        CommandSpec spec = command.getCommandSpec();
        if (spec.usageMessage().hidden()) {
            return;
        }
        write(folder.resolve(spec.qualifiedName("-") + ".1"), manual(command));
        for (CommandLine sub : command.getSubcommands().values()) {
            writeManuals(folder, sub);
        }
    }

    /** A page in the language of man(7). */
    static String manual(CommandLine command) {
        CommandSpec spec = command.getCommandSpec();
        CommandLine.Help help = new CommandLine.Help(spec, CommandLine.Help.defaultColorScheme(Ansi.OFF));
        List<String> lines = new ArrayList<>();
        lines.add(".TH \"" + spec.qualifiedName("-").toUpperCase(Locale.ROOT) + "\" 1");
        lines.add(".SH NAME");
        String description = help.description().strip();
        lines.add(plain(spec.qualifiedName("-")) + " \\- " + plain(description.replaceFirst("(?s)\\.\\s.*", ".")));
        lines.add(".SH SYNOPSIS");
        lines.add(plain(help.synopsis(0)));
        lines.add(".SH DESCRIPTION");
        lines.add(plain(description));
        for (PositionalParamSpec argument : spec.positionalParameters()) {
            if (!argument.hidden()) {
                if (!lines.contains(".SH ARGUMENTS")) {
                    lines.add(".SH ARGUMENTS");
                }
                lines.add(".TP");
                lines.add(plain(argument.paramLabel()));
                lines.add(text(argument));
            }
        }
        lines.add(".SH OPTIONS");
        for (OptionSpec option : spec.options()) {
            if (!option.hidden()) {
                String value = option.arity().max() == 0 ? "" : " " + option.paramLabel();
                lines.add(".TP");
                lines.add(plain(String.join(", ", option.names()) + value));
                lines.add(text(option));
            }
        }
        lines.addAll(commands(command));
        spec.root().usageMessage().exitCodeList().forEach((code, meaning) -> {
            if (!lines.contains(".SH EXIT STATUS")) {
                lines.add(".SH EXIT STATUS");
            }
            lines.add(".TP");
            lines.add(plain(code.strip()));
            lines.add(plain(meaning));
        });
        return String.join("\n", lines) + "\n";
    }

    private static List<String> commands(CommandLine command) {
        List<String> lines = new ArrayList<>();
        for (CommandLine sub : command.getSubcommands().values()) {
            CommandSpec spec = sub.getCommandSpec();
            if (!spec.usageMessage().hidden()) {
                if (lines.isEmpty()) {
                    lines.add(".SH COMMANDS");
                }
                lines.add(".TP");
                lines.add(".BR " + plain(spec.qualifiedName("-")) + " (1)");
                lines.add(plain(
                        spec.usageMessage().description().length == 0
                                ? ""
                                : spec.usageMessage().description()[0]));
            }
        }
        return lines;
    }

    private static String text(ArgSpec argument) {
        return plain(String.join(" ", argument.description())
                .replace("${DEFAULT-VALUE}", String.valueOf(argument.defaultValueString()))
                .replace("${COMPLETION-CANDIDATES}", candidates(argument)));
    }

    private static String candidates(ArgSpec argument) {
        List<String> names = new ArrayList<>();
        if (argument.completionCandidates() != null) {
            argument.completionCandidates().forEach(names::add);
        }
        return String.join(", ", names);
    }

    /** Text on one line, in which nothing is an instruction. */
    private static String plain(String text) {
        String line = text.strip().replaceAll("\\s+", " ").replace("\\", "\\e").replace("-", "\\-");
        return line.startsWith(".") || line.startsWith("'") ? "\\&" + line : line;
    }

    private static void write(Path file, String text) throws IOException {
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }
}
