package dev.lockstep.benchmarks.core;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
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
     * What to run.
     *
     * @param plan for how long
     * @param output the folder for the results
     * @param patterns which benchmarks; none means all
     */
    record Arguments(Plan plan, Path output, List<String> patterns) {
        /** Reads the command line. Mistakes in it are found before anything is measured. */
        static Arguments parse(List<String> words) {
            boolean quick = false;
            int rounds = 0;
            Path output = Path.of("testing/benchmarks/target");
            List<String> patterns = new ArrayList<>();
            for (int i = 0; i < words.size(); i++) {
                String word = words.get(i);
                switch (word) {
                    case "--quick" -> quick = true;
                    case "--rounds" -> rounds = rounds(value(words, ++i));
                    case "--output" -> output = folder(value(words, ++i));
                    default -> patterns.add(pattern(word));
                }
            }
            Plan plan = quick ? Plan.QUICK : Plan.FULL;
            return new Arguments(rounds == 0 ? plan : plan.withRounds(rounds), output, patterns);
        }

        private static String value(List<String> words, int index) {
            if (index == words.size() || words.get(index).startsWith("--")) {
                throw new IllegalArgumentException(words.get(index - 1) + " needs a value; see --help");
            }
            return words.get(index);
        }

        private static int rounds(String value) {
            if (!value.matches("[1-9]\\d{0,5}")) {
                throw new IllegalArgumentException("--rounds needs a whole number above 0, not '" + value + "'");
            }
            return Integer.parseInt(value);
        }

        private static Path folder(String value) {
            Path folder = Path.of(value);
            if (Files.exists(folder) && !Files.isDirectory(folder)) {
                throw new IllegalArgumentException("--output needs a folder, but " + folder + " is a file");
            }
            return folder;
        }

        private static String pattern(String word) {
            if (word.startsWith("-")) {
                throw new IllegalArgumentException("Unknown option " + word + "; see --help");
            }
            try {
                Pattern.compile(word);
            } catch (PatternSyntaxException e) {
                throw new IllegalArgumentException("'" + word + "' is no regular expression: " + e.getMessage(), e);
            }
            return word;
        }
    }

    /**
     * Runs the benchmarks.
     *
     * @param args see the class
     * @throws IllegalArgumentException if one of them is wrong; then nothing was measured
     */
    public static void main(String[] args) throws RunnerException, IOException {
        Arguments arguments = Arguments.parse(List.of(args));
        Plan plan = arguments.plan();
        Files.createDirectories(arguments.output());
        Path json = arguments.output().resolve("benchmarks.json");
        List<RunResult> results = new ArrayList<>();
        Measurements measurements = new Measurements();
        for (int round = 1; round <= plan.rounds(); round++) {
            System.err.println("round " + round + " of " + plan.rounds() + " …");
            Collection<RunResult> finished = new Runner(options(plan, arguments.patterns(), arguments.output())
                            .build())
                    .run();
            results.addAll(finished);
            write(json, results);
            record(finished, measurements);
        }
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        out.println("JDK " + Runtime.version() + ", " + Runtime.getRuntime().availableProcessors() + " processors, "
                + plan.rounds() + " rounds of " + plan.windows() + " × " + plan.window());
        out.println();
        out.print(Table.of(measurements));
        out.println("All results: " + json);
    }

    /** Replaces the file after each round: what was measured survives whatever fails after it. */
    static void write(Path json, Collection<RunResult> results) throws IOException {
        Path part = json.resolveSibling(json.getFileName() + ".part");
        try (PrintStream out = new PrintStream(part.toFile(), StandardCharsets.UTF_8)) {
            ResultFormatFactory.getInstance(ResultFormatType.JSON, out).writeOut(results);
        }
        Files.move(part, json, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
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
