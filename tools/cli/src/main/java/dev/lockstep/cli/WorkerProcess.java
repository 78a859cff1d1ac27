package dev.lockstep.cli;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A process of a demo, as the demo sees it: a real one, on the same Java and class path. For one thread. */
final class WorkerProcess implements AutoCloseable {
    private final int index;
    private final Process process;
    private final PrintWriter tasks;

    /** A line that a process wrote; null when it has ended. */
    record Line(WorkerProcess from, @Nullable String text) {}

    private WorkerProcess(int index, Process process) {
        this.index = index;
        this.process = process;
        this.tasks = new PrintWriter(process.outputWriter(StandardCharsets.UTF_8), true);
    }

    /**
     * Starts a process, whose lines go to a queue. The URL travels in the environment, where other users of the machine
     * do not see it.
     */
    static WorkerProcess start(int index, String url, List<String> options, BlockingQueue<Line> lines)
            throws IOException {
        ProcessBuilder builder = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-XX:-UsePerfData", // a JVM that finds that file locked says so on the standard output
                        "-cp",
                        System.getProperty("java.class.path"),
                        Main.class.getName(),
                        "worker")
                .redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.command().addAll(options);
        builder.command().addAll(List.of("--client", "process " + index));
        builder.environment().put("LOCKSTEP_URL", url);
        WorkerProcess worker = new WorkerProcess(index, builder.start());
        Thread reader = new Thread(() -> worker.read(lines), "lockstep-demo-" + index);
        reader.setDaemon(true);
        reader.start();
        return worker;
    }

    private void read(BlockingQueue<Line> lines) {
        try (BufferedReader answers = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = answers.readLine(); line != null; line = answers.readLine()) {
                lines.add(new Line(this, line));
            }
        } catch (IOException e) {
            // It was killed in the middle of a line.
        }
        lines.add(new Line(this, null));
    }

    int index() {
        return index;
    }

    void send(String task) {
        tasks.println(task);
    }

    void kill() {
        process.destroyForcibly();
    }

    /** Sends STOP or CONT. */
    void signal(String name) throws IOException, InterruptedException {
        Signals.send(name, process.pid());
    }

    /** Ends its input, and with it the process; one that does not end by itself is killed. */
    @Override
    public void close() {
        tasks.close();
        try {
            if (!process.waitFor(5, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
