package dev.lockstep.cli;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The common part of the demos: an engine, or a SQLite file in its place, and several processes. */
abstract class Demo implements Callable<Integer> {
    private static final int MOST = 1_000_000;

    @Spec
    CommandSpec spec = CommandSpec.create();

    @Mixin
    EngineOptions engine = new EngineOptions();

    @Option(
            names = "--ttl",
            paramLabel = "SECONDS",
            description = "How long the lock outlives a process that is killed (default: ${DEFAULT-VALUE}).",
            defaultValue = "5")
    Duration ttl = Duration.ofSeconds(5);

    @Option(
            names = "--seed",
            paramLabel = "N",
            description = "Determines the order of tasks, and how long each takes (default: random).")
    private @Nullable Long givenSeed;

    @Option(names = "--json", description = "Print JSON on one line.")
    boolean json;

    /** The work of a demo with its processes. */
    interface Show {
        int run(Crew crew) throws Exception;
    }

    final long seed() {
        if (givenSeed == null) {
            givenSeed = ThreadLocalRandom.current().nextLong(MOST);
        }
        return givenSeed;
    }

    final void requireBetween(int least, int value, int most, String option) {
        if (value < least || value > most) {
            throw new ParameterException(
                    spec.commandLine(), option + " must be between " + least + " and " + most + ": " + value);
        }
    }

    final void requireCount(int least, int value, String option) {
        requireBetween(least, value, MOST, option);
    }

    /** Where people read along: not among the JSON. */
    final PrintWriter words() {
        return json
                ? new PrintWriter(PrintWriter.nullWriter())
                : spec.commandLine().getOut();
    }

    final boolean live() {
        return !json && Terminal.canRedraw();
    }

    /** The engine in a word or two. */
    final String engineName() {
        String url = engine.givenUrl(null);
        return url == null ? "SQLite file" : url.substring(0, Math.max(0, url.indexOf(':')));
    }

    /** Starts processes on the engine, runs the show, and leaves nothing behind. */
    final int withCrew(int processes, int threads, Show show) throws Exception {
        try (Scratch scratch = Scratch.folder("demo")) {
            return withCrew(processes, threads, scratch.path(), show);
        }
    }

    private int withCrew(int processes, int threads, Path folder, Show show) throws Exception {
        String given = engine.givenUrl(null);
        String url = given == null ? "jdbc:sqlite:" + folder.resolve("locks.db") : given;
        requireShared(url);
        engine.connect(url, builder -> builder.ttl(ttl)).close(); // says what is wrong, once
        words().println("Starting " + processes + " processes with " + threads + " threads each; locks on: "
                + engineName() + " (seed " + seed() + ")");
        List<String> options = List.of(
                "--namespace",
                engine.namespace(),
                "--timeout",
                seconds(engine.timeout()),
                "--ttl",
                seconds(ttl),
                "--threads",
                Integer.toString(threads),
                "--seed",
                Long.toString(seed()),
                "--lock",
                "demo:" + UUID.randomUUID());
        try (Crew crew = Crew.start(processes, url, folder.resolve("ledger.db"), options)) {
            return show.run(crew);
        }
    }

    private void requireShared(String url) {
        if (url.startsWith("memory:")) {
            throw new ParameterException(
                    spec.commandLine(), "a demo runs several processes, but memory: works within one only");
        }
    }

    private static String seconds(Duration duration) {
        return String.format(Locale.ROOT, "%.9f", duration.toNanos() / 1e9);
    }
}
