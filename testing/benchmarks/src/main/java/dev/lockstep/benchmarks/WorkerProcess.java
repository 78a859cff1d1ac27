package dev.lockstep.benchmarks;

import dev.lockstep.benchmarks.worker.Order;
import dev.lockstep.benchmarks.worker.Worker;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A client in a JVM of its own. Orders go to it one at a time; it ends with this process. */
final class WorkerProcess implements AutoCloseable {
    private final String name;
    private final Path log;
    private final Process process;
    private final Writer orders;
    private final BufferedReader answers;

    WorkerProcess(Entrant entrant, Path peers, Path log) {
        this.name = entrant.name();
        this.log = log;
        String classPath = System.getProperty("java.class.path");
        if (!entrant.classPath().isEmpty()) {
            Path target = peers.resolve(entrant.classPath()).resolve("target");
            classPath = target.resolve("classes") + ":" + target.resolve("lib") + "/*";
        }
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-Xmx512m", "-XX:-UsePerfData", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"));
        command.addAll(List.of("-cp", classPath, Worker.class.getName(), entrant.type(), entrant.variant()));
        try {
            process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()))
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException("No JVM for " + name, e);
        }
        orders = process.outputWriter(StandardCharsets.UTF_8);
        answers = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    /** Gives an order and waits for its answer. */
    Map<String, String> carryOut(Order order, Duration atMost) throws InterruptedException {
        try {
            return start(order).get(atMost.toMillis(), TimeUnit.MILLISECONDS).values();
        } catch (ExecutionException | TimeoutException e) {
            throw failure(order, e);
        }
    }

    /** Gives an order; the answer is one that says it is done. */
    CompletableFuture<Order> start(Order order) {
        try {
            orders.write(order.line() + "\n");
            orders.flush();
        } catch (IOException e) {
            throw failure(order, e);
        }
        return CompletableFuture.supplyAsync(() -> {
            try {
                String line = answers.readLine();
                if (line != null && line.startsWith("done")) {
                    return Order.parse(line);
                }
                throw new IOException(line == null ? "the process has ended" : line);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    IllegalStateException failure(Order order, Exception cause) {
        return new IllegalStateException(name + " could not do " + order.word() + "; its log is " + log, cause);
    }

    @Override
    public void close() {
        process.destroyForcibly().onExit().join(); // it may have files open that are deleted next
    }
}
