package dev.lockstep.cli;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.regex.Pattern;

/** Finds programs as a shell does, and reports errors as a shell does. */
final class Programs {
    private Programs() {}

    /** Does nothing if there is such a program. */
    static void require(String command) {
        boolean isPath = command.contains("/");
        boolean exists = false;
        for (String folder : isPath ? new String[] {""} : path()) {
            Path file = file(folder, command);
            if (Files.isRegularFile(file) && Files.isExecutable(file)) {
                return;
            }
            exists |= isPath ? Files.exists(file) : Files.isRegularFile(file);
        }
        throw exists ? notExecutable(command) : new Refusal(ExitCodes.NOT_FOUND, command + ": command not found");
    }

    static Refusal notExecutable(String command) {
        return new Refusal(ExitCodes.NOT_EXECUTABLE, command + ": cannot be executed");
    }

    private static String[] path() {
        String path = System.getenv("PATH");
        return path == null ? new String[0] : path.split(Pattern.quote(File.pathSeparator));
    }

    private static Path file(String folder, String command) {
        try {
            return Path.of(folder).resolve(command);
        } catch (InvalidPathException e) {
            throw new Refusal(ExitCodes.NOT_FOUND, "command not found");
        }
    }
}
