package dev.lockstep.cli;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The built command as a process of its own, through the launcher at the root. */
final class Launched implements AutoCloseable {
    private static final Path LAUNCHER =
            Path.of("../../lockstep").toAbsolutePath().normalize();
    private static final Duration LONGEST = Duration.ofMinutes(2);

    private final Process process;
    private final Path err;
    private final BufferedReader out;

    /** The result of a run. */
    record Run(int code, String out, String err) {}

    private Launched(Process process, Path err) {
        this.process = process;
        this.err = err;
        this.out = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    static Launched start(Path folder, Map<String, String> variables, String... args) throws IOException {
        List<String> command = new ArrayList<>(List.of("bash", LAUNCHER.toString()));
        command.addAll(List.of(args));
        return startProcess(folder, variables, command);
    }

    /** A line of shell, in which {@code $LOCKSTEP} is the command. */
    static Launched shell(Path folder, Map<String, String> variables, String script) throws IOException {
        return startProcess(folder, variables, List.of("bash", "-c", script));
    }

    private static Launched startProcess(Path folder, Map<String, String> variables, List<String> command)
            throws IOException {
        Path err = Files.createTempFile(folder, "err", "");
        // A build in the background ignores interrupts, and what it starts would do so too; env makes them heard again.
        List<String> hearing = new ArrayList<>(List.of("env", "--default-signal=INT,QUIT"));
        hearing.addAll(command);
        ProcessBuilder builder =
                new ProcessBuilder(hearing).directory(folder.toFile()).redirectError(err.toFile());
        Map<String, String> environment = builder.environment();
        environment.put("JAVA_HOME", System.getProperty("java.home"));
        environment.put("LOCKSTEP_BUILD", "never");
        environment.put("LOCKSTEP", LAUNCHER.toString());
        environment.remove("LOCKSTEP_URL");
        environment.remove("LOCKSTEP_NAMESPACE");
        environment.putAll(variables);
        return new Launched(builder.start(), err);
    }

    /** Waits for a line of its output. */
    String line() throws IOException {
        return String.valueOf(out.readLine());
    }

    /** The launcher becomes the command, so this is the command's. */
    long pid() {
        return process.pid();
    }

    void signal(String name) throws IOException, InterruptedException {
        Signals.send(name, pid());
    }

    void type(String text) throws IOException {
        process.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
        process.getOutputStream().flush();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    void kill() {
        process.destroyForcibly();
    }

    /** Waits for its end. */
    Run end() throws IOException, InterruptedException {
        StringBuilder rest = new StringBuilder();
        for (int c = out.read(); c >= 0; c = out.read()) {
            rest.append((char) c);
        }
        if (!process.waitFor(LONGEST.toSeconds(), TimeUnit.SECONDS)) {
            throw new AssertionError("the command did not end");
        }
        return new Run(process.exitValue(), rest.toString(), Files.readString(err));
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
