package dev.lockstep.benchmarks;

import dev.lockstep.benchmarks.Results.Sheet;
import dev.lockstep.benchmarks.core.BenchmarkReport;
import dev.lockstep.servers.ServerException;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Measures Lockstep beside its peers, prints tables, and refreshes the page; see {@code run --help}. */
public final class Main {
    private final Options options;
    private final Function<Engine, RunningEngine> servers;
    private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    private final Map<Engine, List<Sheet>> measured = new LinkedHashMap<>();

    Main(Options options, Function<Engine, RunningEngine> servers) {
        this.options = options;
        this.servers = servers;
    }

    /**
     * Runs.
     *
     * @param args see {@code run --help}
     * @throws Exception if a server, or what is needed here, fails; a contender that fails is only reported
     */
    public static void main(String[] args) throws Exception {
        if (args.length == 1 && args[0].equals("page")) {
            Page.refresh(Path.of("docs").toAbsolutePath(), List.of());
            return;
        }
        if (args.length == 1 && args[0].equals("scale")) {
            System.out.print(Scale.refresh(Path.of("docs").toAbsolutePath()));
            return;
        }
        try {
            if (args.length > 0 && args[0].equals("core")) {
                BenchmarkReport.main(List.of(args).subList(1, args.length).toArray(String[]::new));
                return;
            }
            System.exit(run(List.of(args)) ? 0 : 1);
        } catch (IllegalArgumentException e) {
            System.err.println(e.getMessage());
            System.exit(2);
        }
    }

    private static boolean run(List<String> words) throws IOException, InterruptedException {
        String first = words.isEmpty() ? "" : words.get(0);
        return switch (first) {
            case "growth" ->
                Growth.run(
                        GrowthOptions.parse(
                                words.subList(1, words.size()), Path.of("").toAbsolutePath()),
                        RunningEngine::start);
            case "compare" -> compare(words.subList(1, words.size()));
            default -> new Main(Options.parse(words), RunningEngine::start).run();
        };
    }

    private static boolean compare(List<String> files) throws IOException {
        Comparison comparison = Comparison.of(files, Options.folder());
        new PrintStream(System.out, true, StandardCharsets.UTF_8).print(comparison.text());
        return !comparison.worse();
    }

    /** Measures all; false if Lockstep or a server failed. */
    boolean run() throws IOException, InterruptedException {
        Files.createDirectories(options.output());
        boolean failed = false;
        for (Engine engine : options.engines()) {
            try {
                measure(engine);
            } catch (ServerException e) {
                progress(engine.title + ": FAILED: " + e.getMessage());
                failed = true;
                continue;
            }
            Results results = new Results(engine.id(), sheets(engine));
            print(results);
            Page.charts(options.output(), results);
            if (options.isForThePage()) {
                Page.refresh(options.docs(), List.of(results));
            }
        }
        List<Results> all = results();
        if (all.size() > 1) {
            out.println("Lockstep on all engines\n\n" + Tables.engines(all));
        }
        out.println("Results: " + options.json() + ", charts: " + options.output()
                + (options.isForThePage() ? ", page: " + options.docs().resolve("benchmarks.md") : ""));
        return !failed
                && all.stream()
                        .flatMap(results -> results.sheets().stream())
                        .flatMap(sheet -> sheet.cells().stream())
                        .filter(cell -> cell.kind() == Entrant.Kind.LOCKSTEP)
                        .allMatch(cell -> cell.lost() == 0 && !cell.windows().isEmpty());
    }

    private void measure(Engine engine) throws IOException, InterruptedException {
        progress(engine.title + ": starting");
        try (RunningEngine running = servers.apply(engine);
                Stage stage = new Stage(running, options.plan(), options.peers(), options.output(), this::progress)) {
            if (options.history() > 0) {
                stage.makeHistory(Entrant.of(engine).get(0), options.history());
            }
            for (Workload workload : inOrder(options.workloads())) {
                List<Entrant> entrants = Entrant.of(engine).stream()
                        .filter(entrant -> entrant.workloads().contains(workload) && options.wants(entrant))
                        .toList();
                if (entrants.stream().anyMatch(entrant -> entrant.kind() == Entrant.Kind.LOCKSTEP)) {
                    keep(engine, stage.measure(workload, entrants));
                }
            }
        }
    }

    /** Writes results as they arrive: what was measured survives whatever fails after it. */
    private void keep(Engine engine, Sheet sheet) throws IOException {
        measured.computeIfAbsent(engine, unused -> new ArrayList<>()).add(sheet);
        Results.write(options.json(), Results.json(results()));
    }

    private List<Results> results() {
        return measured.keySet().stream()
                .map(engine -> new Results(engine.id(), sheets(engine)))
                .toList();
    }

    private List<Sheet> sheets(Engine engine) {
        return measured.getOrDefault(engine, List.of()).stream()
                .sorted(Comparator.comparing(Sheet::kind))
                .toList();
    }

    /** W7 comes last, since it needs the server for itself: all clients end before it. */
    private static List<Workload> inOrder(List<Workload> workloads) {
        return workloads.stream()
                .sorted(Comparator.comparing(workload -> workload == Workload.W7))
                .toList();
    }

    private void print(Results results) {
        out.println(results.kind().title + ": " + Page.conditions(results) + "\n");
        for (Sheet sheet : results.sheets()) {
            out.println(sheet.workload() + ": " + sheet.kind().title + " (" + sheet.plan() + ")\n");
            out.println(Tables.of(sheet));
        }
        List<Goal.Outcome> outcomes = Goal.outcomes(results);
        if (!outcomes.isEmpty()) {
            out.println("Goals\n\n" + Tables.goals(outcomes));
        }
    }

    private void progress(String line) {
        System.err.println(line);
    }
}
