package dev.lockstep.servers;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Runs short commands. */
final class Commands {
    private Commands() {}

    /** Runs a command to its end and returns what it printed, to either stream; fails with that if it fails. */
    static String run(Path directory, Duration timeout, Launch launch) throws IOException {
        Path output = Files.createTempFile("lockstep-command-", ".out");
        try {
            ProcessBuilder builder = new ProcessBuilder(launch.commandLine())
                    .directory(directory.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(output.toFile());
            builder.environment().putAll(launch.environment());
            Process process = builder.start();
            process.getOutputStream().close();
            boolean ended = waitFor(process, timeout);
            String printed = Files.readString(output, StandardCharsets.ISO_8859_1);
            if (!ended || process.exitValue() != 0) {
                String how = ended ? "exit code " + process.exitValue() : "not done after " + timeout;
                throw new IOException(String.join(" ", launch.command()) + ": " + how + "\n" + printed.strip());
            }
            return printed;
        } finally {
            Files.deleteIfExists(output);
        }
    }

    static String run(Path directory, Duration timeout, List<String> command) throws IOException {
        return run(directory, timeout, new Launch(command, Map.of(), false));
    }

    private static boolean waitFor(Process process, Duration timeout) throws IOException {
        try {
            if (process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
                return true;
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while a command ran");
        }
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
        return false;
    }
}
