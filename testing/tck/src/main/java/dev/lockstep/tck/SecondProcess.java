package dev.lockstep.tck;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;

/**
 * A second JVM that acquires locks, and that can be paused and killed, which a thread cannot simulate. It runs with the class
 * path of this JVM, connects to an engine by URL, and does what it is asked, one request after the other:
 *
 * <pre>{@code
 * try (SecondProcess other = SecondProcess.start(url, namespace, Duration.ofSeconds(2))) {
 *     other.ask("acquire order:42");      // "ok": it holds the lock
 *     other.pause();                      // as a long garbage collection would
 *     other.resume();
 *     other.ask("valid order:42");        // "false": it learnt of its loss
 * }
 * }</pre>
 *
 * <p>The requests are {@code acquire NAME}, {@code fair NAME}, {@code try NAME}, {@code elect NAME}, {@code permits NAME
 * COUNT PERMITS} (acquires some of the permits that there are), {@code token NAME}, {@code valid NAME}, {@code release NAME},
 * {@code write NAME FILE}, {@code count NAME FILE TIMES}, {@code sell NAME FILE MILLIS}, {@code exit} and {@code ping}. An
 * answer is a line: {@code ok}, a value, or {@code error} with the simple name of the exception's class. A name is one
 * without spaces.
 *
 * <p>Needs {@code kill}, and so Unix. Not safe for use by several threads.
 */
public final class SecondProcess implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /** Follows the last answer; an answer is never empty. */
    private static final String END = "";

    private final Process process;
    private final Path temporary;
    private final Writer requests;
    private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
    private final Thread reader;

    private SecondProcess(Process process, Path temporary) {
        this.process = process;
        this.temporary = temporary;
        this.requests = process.outputWriter(StandardCharsets.UTF_8);
        this.reader = new Thread(this::readAnswers, "answers of process " + process.pid());
        reader.setDaemon(true);
        reader.start();
    }

    /**
     * Starts a process and waits until it is connected.
     *
     * @param url the engine
     * @param namespace the namespace of its locks
     * @param ttl the ttl of its locks
     * @return the process
     */
    public static SecondProcess start(String url, String namespace, Duration ttl) {
        return start(url, namespace, ttl, Map.of());
    }

    /**
     * Starts a process in an environment of its own, and waits until it is connected.
     *
     * @param url the engine
     * @param namespace the namespace of its locks
     * @param ttl the ttl of its locks
     * @param environment variables to add to those of this process
     * @return the process
     */
    public static SecondProcess start(String url, String namespace, Duration ttl, Map<String, String> environment) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        // Without performance data: a JVM that finds its file locked says so on the standard output.
        command.addAll(List.of("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData"));
        // The URL may carry a password; other users see a process's arguments, so it goes by the first line instead.
        try {
            // A process that is killed does not clean up; SQLite's driver would leave its library behind.
            Path temporary = Files.createTempDirectory("lockstep-second-process");
            command.add("-Djava.io.tmpdir=" + temporary);
            command.addAll(List.of("-cp", System.getProperty("java.class.path")));
            command.add(SecondProcessMain.class.getName());
            ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
            builder.environment().putAll(environment);
            SecondProcess started = new SecondProcess(builder.start(), temporary);
            try {
                started.tell(url);
                started.tell(namespace);
                started.tell(Long.toString(ttl.toMillis()));
                started.expect("ok");
                return started;
            } catch (RuntimeException | Error e) {
                started.kill();
                throw e;
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void readAnswers() {
        try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                answers.add(line);
            }
        } catch (IOException e) {
            // It was killed.
        } finally {
            answers.add(END);
        }
    }

    /**
     * Sends a request without waiting for the answer.
     *
     * @param request the request
     */
    public void tell(String request) {
        try {
            requests.write(request + "\n");
            requests.flush();
        } catch (IOException e) {
            throw new UncheckedIOException("Process " + process.pid() + " does not listen", e);
        }
    }

    /**
     * Waits for the answer to the oldest request that has none yet.
     *
     * @return the answer
     */
    public String answer() {
        return answer(PATIENCE);
    }

    /**
     * Waits for the answer to the oldest request that has none yet.
     *
     * @param patience how long to wait
     * @return the answer
     */
    public String answer(Duration patience) {
        try {
            String answer = answers.poll(patience.toMillis(), TimeUnit.MILLISECONDS);
            if (answer == null) {
                throw new AssertionError("Process " + process.pid() + " has not answered within " + patience);
            }
            if (answer.equals(END)) {
                answers.add(END);
                throw new AssertionError("Process " + process.pid() + " ended without an answer");
            }
            return answer;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while waiting for process " + process.pid(), e);
        }
    }

    /**
     * Returns whether an answer is there.
     *
     * @return true if {@link #answer()} would not wait
     */
    public boolean hasAnswered() {
        String next = answers.peek();
        return next != null && !next.equals(END);
    }

    /**
     * Sends a request and waits for its answer.
     *
     * @param request the request
     * @return the answer
     */
    public String ask(String request) {
        tell(request);
        return answer();
    }

    private void expect(String expected) {
        String answer = answer();
        if (!answer.equals(expected)) {
            throw new AssertionError(
                    "Process " + process.pid() + " answered '" + answer + "' and not '" + expected + "'");
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

    /** Stops all its threads where they are (SIGSTOP), until {@link #resume()}. Returns when all are stopped. */
    public void pause() {
        signal("STOP");
        Awaitility.await("process " + process.pid() + " is stopped")
                .pollInSameThread()
                .pollInterval(Duration.ofMillis(5))
                .atMost(PATIENCE)
                .until(this::standsStill);
    }

    /** Whether all threads have seen the signal: those that were running do so a little later than it was sent. */
    private boolean standsStill() throws IOException {
        Path threads = Path.of("/proc", Long.toString(process.pid()), "task");
        if (!Files.isDirectory(threads)) {
            return true; // no Linux: trust the signal
        }
        try (Stream<Path> each = Files.list(threads)) {
            return each.allMatch(SecondProcess::isStopped);
        }
    }

    private static boolean isStopped(Path thread) {
        try {
            // "pid (name) state …", where the name may hold anything
            String stat = Files.readString(thread.resolve("stat"));
            return stat.charAt(stat.lastIndexOf(')') + 2) == 'T';
        } catch (IOException e) {
            return true; // it has ended
        }
    }

    /** Continues it after {@link #pause()} (SIGCONT). */
    public void resume() {
        signal("CONT");
    }

    /** Kills it at once (SIGKILL), waits for its end, and deletes its temporary files. */
    public void kill() {
        process.destroyForcibly();
        awaitEnd();
        deleteTemporaryFiles();
    }

    private void deleteTemporaryFiles() {
        if (!Files.exists(temporary)) {
            return;
        }
        try (Stream<Path> files = Files.walk(temporary)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Its folder for temporary files, which is there until it has been killed or closed. */
    Path temporary() {
        return temporary;
    }

    /** Ends it by a signal that it does not handle (SIGTERM); does not wait for its end. */
    public void terminate() {
        signal("TERM");
    }

    /** Lets it close its client and end; kills it if it does not. */
    @Override
    public void close() {
        try {
            if (process.isAlive()) {
                resume();
                requests.close();
                process.waitFor(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
            }
        } catch (IOException | InterruptedException e) {
            // Whatever it was, killing comes next.
        } finally {
            kill();
        }
    }

    private void signal(String signal) {
        try {
            int code = new ProcessBuilder("sh", "-c", "kill -" + signal + " " + process.pid()) // the shell has it
                    .inheritIO()
                    .start()
                    .waitFor();
            if (code != 0) {
                throw new IllegalStateException("kill -" + signal + " " + process.pid() + " ended with " + code);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private void awaitEnd() {
        boolean interrupted = false;
        while (true) {
            try {
                process.waitFor();
                reader.join();
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
