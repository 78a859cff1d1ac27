package dev.lockstep.benchmarks.core;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.results.format.ResultFormatFactory;
import org.openjdk.jmh.results.format.ResultFormatType;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/**
 * Runs the benchmarks and prints one table.
 *
 * <p>The whole suite runs several times, each benchmark in a JVM of its own each time, so that a benchmark and its
 * yardstick take turns: a machine that slows down for a minute slows both. Ratios are taken within a round.
 *
 * <p>Arguments: {@code --quick} for a first look, {@code --rounds N}, {@code --output FOLDER} for the results in JMH's
 * JSON and its log, and regular expressions that choose benchmarks.
 */
public final class BenchmarkReport {
    private static final String PACKAGE = BenchmarkReport.class.getPackageName();

    private BenchmarkReport() {}

    /** How long to measure. A busy machine needs seconds to compile the code, however few of its calls are timed. */
    record Plan(int rounds, TimeValue warmup, int windows, TimeValue window) {
        static final Plan FULL = new Plan(5, TimeValue.seconds(5), 5, TimeValue.seconds(1));
        static final Plan QUICK = new Plan(3, TimeValue.seconds(3), 3, TimeValue.milliseconds(300));

        Plan withRounds(int other) {
            return new Plan(other, warmup, windows, window);
        }
    }

    /**
     * Runs the benchmarks.
     *
     * @param args see the class
     */
    public static void main(String[] args) throws RunnerException, IOException {
        Plan plan = Plan.FULL;
        Path output = Path.of("testing/benchmarks/target");
        List<String> patterns = new ArrayList<>();
        for (int i = 0; i < args.length; i++) {
            switch (args[i]) {
                case "--quick" -> plan = Plan.QUICK;
                case "--rounds" -> plan = plan.withRounds(Integer.parseInt(args[++i]));
                case "--output" -> output = Path.of(args[++i]);
                default -> patterns.add(args[i]);
            }
        }
        Files.createDirectories(output);
        List<RunResult> results = new ArrayList<>();
        Measurements measurements = new Measurements();
        for (int round = 1; round <= plan.rounds(); round++) {
            System.err.println("round " + round + " of " + plan.rounds() + " …");
            Collection<RunResult> finished =
                    new Runner(options(plan, patterns, output).build()).run();
            results.addAll(finished);
            record(finished, measurements);
        }
        Path json = output.resolve("benchmarks.json");
        try (PrintStream out = new PrintStream(json.toFile(), StandardCharsets.UTF_8)) {
            ResultFormatFactory.getInstance(ResultFormatType.JSON, out).writeOut(results);
        }
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        out.println("JDK " + Runtime.version() + ", " + Runtime.getRuntime().availableProcessors() + " processors, "
                + plan.rounds() + " rounds of " + plan.windows() + " × " + plan.window());
        out.println();
        out.print(Table.of(measurements));
        out.println("All results: " + json);
    }

    private static ChainedOptionsBuilder options(Plan plan, List<String> patterns, Path output) {
        ChainedOptionsBuilder options = new OptionsBuilder()
                .mode(Mode.Throughput)
                .timeUnit(TimeUnit.SECONDS)
                .forks(1)
                .warmupIterations(1)
                .warmupTime(plan.warmup())
                .measurementIterations(plan.windows())
                .measurementTime(plan.window())
                .shouldFailOnError(true)
                .output(output.resolve("benchmarks.log").toString());
        if (patterns.isEmpty()) {
            options.include(PACKAGE.replace(".", "\\."));
        }
        patterns.forEach(options::include);
        return options;
    }

    /** Adds what one run measured, as the next round. */
    static void record(Collection<RunResult> finished, Measurements measurements) {
        for (RunResult result : finished) {
            List<Double> windows = new ArrayList<>();
            for (BenchmarkResult fork : result.getBenchmarkResults()) {
                for (IterationResult iteration : fork.getIterationResults()) {
                    windows.add(iteration.getPrimaryResult().getScore());
                }
            }
            measurements.add(result.getParams().getBenchmark(), windows);
        }
    }
}
