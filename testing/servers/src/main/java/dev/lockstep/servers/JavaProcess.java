package dev.lockstep.servers;

import dev.lockstep.temp.TempDirs;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A second JVM on the class path of this one, which talks by lines and can be paused and killed: what no thread can play.
 * Its program must end when its standard input does, so that it does not outlive this JVM. Thread-safe.
 */
public final class JavaProcess implements AutoCloseable {
    /** How long a program may take to end after its input has ended; then it is killed, and no test fails by that. */
    private static final Duration FAREWELL = Duration.ofSeconds(10);

    /** Follows the last line; a program must not print empty ones. */
    private static final String END = "";

    private static final Set<Process> RUNNING = ConcurrentHashMap.newKeySet();

    static {
        TempDirs.beforeDeletion(JavaProcess::killAll);
    }

    private final Process process;
    private final Path temporary;
    private final PrintWriter input;
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

    private JavaProcess(Process process, Path temporary) {
        this.process = process;
        this.temporary = temporary;
        RUNNING.add(process);
        process.onExit().thenAccept(RUNNING::remove);
        this.input = new PrintWriter(process.outputWriter(StandardCharsets.UTF_8), true);
        Thread reader = new Thread(this::read, "lines of process " + process.pid());
        reader.setDaemon(true);
        reader.start();
    }

    /**
     * Starts a program. Secrets must not be among its arguments, which other users see: send them as a line.
     *
     * @param mainClass the name of its main class
     * @param arguments its arguments
     * @return the process
     * @throws ServerException if it cannot be started
     */
    public static JavaProcess start(String mainClass, String... arguments) {
        return startWith(List.of(), mainClass, arguments);
    }

    /**
     * Starts a program on a class path that begins with some folders.
     *
     * @param folders what goes in front of the class path of this JVM
     * @param mainClass the name of its main class
     * @param arguments its arguments
     * @return the process
     * @throws ServerException if it cannot be started
     */
    public static JavaProcess startWith(List<Path> folders, String mainClass, String... arguments) {
        List<String> classPath = new ArrayList<>();
        folders.forEach(folder -> classPath.add(folder.toString()));
        classPath.add(System.getProperty("java.class.path"));
        // A killed process does not clean up; SQLite's driver would leave its library behind.
        Path temporary = TempDirs.create("jvm");
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto"));
        command.add("-XX:-UsePerfData"); // a JVM that finds that file locked says so on the standard output
        command.add("-Djava.io.tmpdir=" + temporary);
        command.addAll(List.of("-cp", String.join(File.pathSeparator, classPath), mainClass));
        command.addAll(List.of(arguments));
        try {
            Process started = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            return new JavaProcess(started, temporary);
        } catch (IOException e) {
            throw new ServerException("cannot start " + mainClass, e);
        }
    }

    /** Kills all that run, at the end of this JVM: one that is paused does not see that its input has ended. */
    private static void killAll() {
        RUNNING.forEach(Process::destroyForcibly);
    }

    private void read() {
        try (BufferedReader reader = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                lines.add(line);
            }
        } catch (IOException e) {
            // It was killed.
        } finally {
            lines.add(END);
        }
    }

    /**
     * Sends a line. One that has ended does not hear it.
     *
     * @param line the line
     */
    public void send(String line) {
        input.println(line);
    }

    /**
     * Waits for the next line that it prints.
     *
     * @param patience how long
     * @return the line
     * @throws ServerException if it prints none in time, or ends before
     */
    public String next(Duration patience) {
        try {
            String line = lines.poll(patience.toMillis(), TimeUnit.MILLISECONDS);
            if (line == null) {
                throw new ServerException("process " + process.pid() + " said nothing for " + patience);
            }
            if (line.equals(END)) {
                lines.add(END);
                throw new ServerException("process " + process.pid() + " has ended");
            }
            return line;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ServerException("interrupted while waiting for process " + process.pid());
        }
    }

    /**
     * Its process id.
     *
     * @return the id
     */
    public long pid() {
        return process.pid();
    }

    /**
     * Returns whether it runs; a paused process does.
     *
     * @return true until it has ended
     */
    public boolean isAlive() {
        return process.isAlive();
    }

    /** Stops it where it is (SIGSTOP), until {@link #resume()}. */
    public void pause() {
        ProcessFamily.pause(process);
    }

    /** Continues it (SIGCONT). */
    public void resume() {
        ProcessFamily.of(process).resume();
    }

    /** Ends it where it is (SIGKILL), waits for its end, and deletes its temporary files. */
    public void kill() {
        ProcessFamily family = ProcessFamily.of(process);
        family.kill();
        family.awaitEnd();
        process.onExit().join(); // so that isAlive knows it, too
        try {
            TempDirs.delete(temporary);
        } catch (IOException e) {
            // The end of this JVM tries again.
        }
    }

    /** Ends its input, and with it the process; kills it if it does not end by itself. */
    @Override
    public void close() {
        if (process.isAlive()) {
            resume();
            input.close();
            try {
                process.waitFor(FAREWELL.toMillis(), TimeUnit.MILLISECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        kill();
    }
}
