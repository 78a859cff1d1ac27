package dev.lockstep.cli;

import dev.lockstep.LockClient;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * One of the processes of a demo. Reads a task from each line of its standard input and writes a line for each answer; it
 * ends with its input, so that nothing outlives the demo.
 *
 * <pre>
 * SELL 17 locked|bare first|again    done 17 NUMBER|- TOKEN|- WAIT_NANOS, or failed 17 WHY
 * DRAW 17 locked|bare first|again    the same
 * acquire                            granted TOKEN, and later perhaps lost REASON
 * write NUMBER                       written NUMBER, or refused NUMBER
 * </pre>
 */
@Command(name = "worker", hidden = true, description = "One of the processes of a demo.")
final class WorkerCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private EngineOptions engine = new EngineOptions();

    @Option(names = "--client", required = true)
    private String clientName = "";

    @Option(names = "--lock", required = true)
    private String lockName = "";

    @Option(names = "--ledger", required = true)
    private Path ledger = Path.of("");

    @Option(names = "--ttl", required = true)
    private Duration ttl = Duration.ZERO;

    @Option(names = "--threads", required = true)
    private int threads;

    @Option(names = "--seed", required = true)
    private long seed;

    @Override
    public Integer call() throws Exception {
        PrintWriter out = spec.commandLine().getOut();
        ExecutorService executor = Executors.newFixedThreadPool(threads);
        try (LockClient client = engine.connect(builder -> builder.ttl(ttl).clientName(clientName));
                BufferedReader tasks = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            Worker worker = new Worker(client, lockName, ledger, seed, out);
            out.println("ready");
            for (String line = tasks.readLine(); line != null; line = tasks.readLine()) {
                String[] task = line.split(" ");
                executor.execute(() -> worker.perform(task));
            }
        } catch (IOException e) {
            // The demo is gone.
        } finally {
            executor.shutdownNow();
        }
        return ExitCodes.OK;
    }
}
