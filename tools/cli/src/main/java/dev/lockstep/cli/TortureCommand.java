package dev.lockstep.cli;

import dev.lockstep.LockstepException;
import dev.lockstep.servers.ServerException;
import dev.lockstep.servers.ServerUnavailableException;
import dev.lockstep.torture.Engine;
import dev.lockstep.torture.Proof;
import dev.lockstep.torture.Recheck;
import dev.lockstep.torture.Report;
import dev.lockstep.torture.Settings;
import dev.lockstep.torture.Torture;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Injects faults while several processes use locks, and reports which guarantees held. */
@Command(
        name = "torture",
        description = {
            "Several processes use locks in every way while faults are injected; then a checker reports in numbers"
                    + " which guarantees held. With --url it uses your engine, and injects faults only into the workers"
                    + " and their connections; with --engine or --all it starts servers, and breaks them too.",
            "The exit code is 1 if a guarantee was broken, or if the checker did not find a planted bug."
        })
final class TortureCommand implements Callable<Integer> {
    private static final Duration PROGRESS = Duration.ofSeconds(15);

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private EngineOptions target = new EngineOptions();

    @Option(
            names = "--engine",
            paramLabel = "NAME",
            split = ",",
            description = "Engines to start: ${COMPLETION-CANDIDATES}.")
    private List<Engine> engines = new ArrayList<>();

    @Option(names = "--all", description = "Run the proof, and then every available engine.")
    private boolean all;

    @Option(names = "--prove", description = "Plant bugs in the memory engine; the checker must find all of them.")
    private boolean prove;

    @Option(
            names = "--duration",
            paramLabel = "TIME",
            description = "How long to inject faults, for each engine, such as 90 or 30m (default: ${DEFAULT-VALUE}).",
            defaultValue = "60")
    private Duration duration = Duration.ofSeconds(60);

    @Option(
            names = "--workers",
            paramLabel = "N",
            description = "Number of processes (default: ${DEFAULT-VALUE}).",
            defaultValue = "3")
    private int workers;

    @Option(
            names = "--threads",
            paramLabel = "N",
            description =
                    "Threads of each process (default: ${DEFAULT-VALUE}). The first three hold the first four locks,"
                            + " sometimes for a long time; the others hold the other locks briefly.",
            defaultValue = "24")
    private int threads;

    @Option(
            names = "--locks",
            paramLabel = "N",
            description =
                    "Number of locks (default: ${DEFAULT-VALUE}). Of every four, one is fair, one is sticky, and two"
                            + " are acquired together.",
            defaultValue = "44")
    private int locks;

    @Option(
            names = "--ttl",
            paramLabel = "TIME",
            description = "The ttl of the locks, with --url (default: ${DEFAULT-VALUE}).",
            defaultValue = "5")
    private Duration ttl = Duration.ofSeconds(5);

    @Option(names = "--seed", paramLabel = "N", description = "Repeat the schedule of this seed (default: random).")
    private @Nullable Long seed;

    @Option(
            names = "--report",
            paramLabel = "FOLDER",
            description = "Write a page with pictures for each engine, and JSON.")
    private @Nullable Path folder;

    @Option(
            names = "--history",
            paramLabel = "FOLDER",
            description = "Write the complete history, in one file for each engine.")
    private @Nullable Path histories;

    @Option(
            names = "--check",
            paramLabel = "FILE",
            description = "Only run the checker again, on a file that --history wrote.")
    private @Nullable Path check;

    @Option(names = "--json", description = "Print JSON on one line.")
    private boolean json;

    private final Map<String, Object> results = new LinkedHashMap<>();
    private boolean held = true;
    private Duration nextProgress = PROGRESS;

    @Override
    public Integer call() throws Exception {
        if (workers < 1 || threads < 1 || locks < 1 || (long) workers * threads > 1_000 || locks > 1_000) {
            throw new ParameterException(
                    spec.commandLine(), "--workers, --threads and --locks must be 1 or more, 1000 at most");
        }
        if (check != null) {
            if (!Files.isRegularFile(check)) {
                throw new ParameterException(spec.commandLine(), "--check: there is no file " + check);
            }
            Recheck again = Recheck.of(check);
            again.lines().forEach(out()::println);
            return again.holds() ? ExitCodes.OK : ExitCodes.FAILED;
        }
        EngineOptions.silenceDrivers();
        for (Path each : new Path[] {folder, histories}) {
            if (each != null) {
                makeFolder(each);
            }
        }
        long chosen = seed == null ? new Random().nextInt(1_000_000) : seed;
        Settings settings = new Settings(workers, threads, locks, duration, chosen);
        if (!(all || prove) || isProven(chosen)) {
            torture(settings);
        }
        String text = Json.write(results);
        writeReport(text);
        if (json) {
            out().println(text);
        }
        return held ? ExitCodes.OK : ExitCodes.FAILED;
    }

    private void makeFolder(Path made) {
        try {
            Files.createDirectories(made);
        } catch (IOException e) {
            throw new ParameterException(spec.commandLine(), made + " is not a folder, and cannot be created: " + e);
        }
    }

    private PrintWriter out() {
        return spec.commandLine().getOut();
    }

    private void say(String line) {
        if (!json) {
            out().println(line);
        }
    }

    private void torture(Settings settings) throws Exception {
        for (Engine engine : all ? List.of(Engine.values()) : engines) {
            torture(engine, settings);
        }
        if (!all && engines.isEmpty() && (!prove || target.givenUrl(null) != null)) {
            show(Torture.run(target.url(null), ttl, settings, this::progress));
        }
    }

    private boolean isProven(long chosen) throws InterruptedException {
        say("Proof, on memory: every planted bug must be found.");
        Proof proof = Proof.run(chosen);
        proof.lines().forEach(line -> say("  " + line));
        results.put("proof", Map.of("holds", proof.holds(), "lines", proof.lines()));
        held &= proof.holds();
        if (!proof.holds()) {
            say("Void: a checker that misses a planted bug proves nothing, so nothing else was run.");
        }
        return proof.holds();
    }

    private void torture(Engine engine, Settings settings) throws Exception {
        String name = engine.toString();
        nextProgress = PROGRESS;
        try {
            show(Torture.run(engine, settings, this::progress));
        } catch (ServerUnavailableException e) {
            String message = String.valueOf(e.getMessage());
            results.put(name, Map.of("skipped", message));
            say("");
            say(name + ": skipped, " + message);
        } catch (ServerException | LockstepException | IllegalStateException e) {
            // If one engine fails, the results of the others are still reported.
            String message = String.valueOf(e.getMessage());
            held = false;
            results.put(name, Map.of("holds", false, "notCarriedOut", message));
            say("");
            say(name + ": NOT CARRIED OUT, " + message);
        }
    }

    /** Prints progress to standard error at intervals, except with JSON output. */
    private void progress(String engine, Duration passed, long sections, long faults) {
        if (!json && passed.compareTo(nextProgress) >= 0) {
            nextProgress = passed.plus(PROGRESS);
            PrintWriter err = spec.commandLine().getErr();
            err.printf(
                    Locale.ROOT,
                    "%s: %d of %d s, %,d sections, %,d faults%n",
                    engine,
                    passed.toSeconds(),
                    duration.toSeconds(),
                    sections,
                    faults);
            err.flush();
        }
    }

    /** Called after each engine, so that its results are kept if the next one ends the process. */
    private void writeReport(String text) throws IOException {
        if (folder != null) {
            Files.writeString(folder.resolve("torture.json"), text);
        }
    }

    private void show(Report report) throws IOException {
        held &= report.holds();
        results.put(report.engine(), report.toJson());
        writeReport(Json.write(results));
        if (folder != null) {
            Files.writeString(folder.resolve(report.engine() + ".html"), report.toHtml());
        }
        if (histories != null) {
            report.writeHistory(histories.resolve(report.engine() + ".history"));
        }
        if (json) {
            return;
        }
        say("");
        TextTable table = new TextTable(report.engine().toUpperCase(Locale.ROOT), report.holds() ? "HELD" : "BROKEN");
        report.rows().forEach(row -> table.add(row.what(), row.count()));
        table.print(out());
        say("");
        TextTable faults = new TextTable("FAULT", "TIMES", "IN A HOLD", "LEASES ENDED", "RECOVERY P50", "MAX");
        report.faultRows().forEach(row -> faults.add(row.toArray()));
        faults.print(out());
        if (!report.holds()) {
            say(report.toString());
        }
    }
}
