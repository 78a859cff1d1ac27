package dev.lockstep.benchmarks;

import dev.lockstep.benchmarks.Results.Sheet;
import dev.lockstep.benchmarks.core.BenchmarkReport;
import dev.lockstep.servers.ServerException;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Measures Lockstep beside its peers, prints tables, and refreshes the page; see {@code run --help}. */
public final class Main {
    private final Options options;
    private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    private final Map<String, String> machine = machine();

    private Main(Options options) {
        this.options = options;
    }

    /**
     * Runs.
     *
     * @param args see {@code run --help}
     * @throws Exception if a server, or what is needed here, fails; a contender that fails is only reported
     */
    public static void main(String[] args) throws Exception {
        if (args.length > 0 && args[0].equals("core")) {
            BenchmarkReport.main(List.of(args).subList(1, args.length).toArray(String[]::new));
            return;
        }
        try {
            System.exit(new Main(Options.parse(List.of(args))).run() ? 0 : 1);
        } catch (IllegalArgumentException e) {
            System.err.println(e.getMessage());
            System.exit(2);
        }
    }

    private boolean run() throws IOException, InterruptedException {
        Files.createDirectories(options.output());
        List<Results> all = new ArrayList<>();
        boolean failed = false;
        for (Engine engine : options.engines()) {
            Results results;
            try {
                results = measure(engine);
            } catch (ServerException e) {
                progress(engine.title + ": FAILED: " + e.getMessage());
                failed = true;
                continue;
            }
            all.add(results);
            print(results);
            Page.charts(options.output(), results);
            if (options.isForThePage()) {
                Page.refresh(options.docs(), List.of(results));
            }
        }
        if (all.size() > 1) {
            out.println("Lockstep on all engines\n\n" + Tables.engines(all));
        }
        Files.writeString(options.json(), Results.json(all));
        out.println("Results: " + options.json() + ", charts: " + options.output()
                + (options.isForThePage() ? ", page: " + options.docs().resolve("benchmarks.md") : ""));
        return !failed
                && all.stream()
                        .flatMap(results -> results.sheets().stream())
                        .flatMap(sheet -> sheet.cells().stream())
                        .filter(cell -> cell.kind() == Entrant.Kind.LOCKSTEP)
                        .allMatch(cell -> cell.lost() == 0 && !cell.windows().isEmpty());
    }

    private Results measure(Engine engine) throws IOException, InterruptedException {
        progress(engine.title + ": starting");
        try (RunningEngine running = RunningEngine.start(engine);
                Stage stage = new Stage(running, options.plan(), options.peers(), options.output(), this::progress)) {
            List<Sheet> sheets = new ArrayList<>();
            for (Workload workload : inOrder(options.workloads())) {
                List<Entrant> entrants = Entrant.of(engine).stream()
                        .filter(entrant -> entrant.workloads().contains(workload) && options.wants(entrant))
                        .toList();
                if (entrants.stream().anyMatch(entrant -> entrant.kind() == Entrant.Kind.LOCKSTEP)) {
                    sheets.add(stage.measure(workload, entrants));
                }
            }
            sheets.sort(Comparator.comparing(Sheet::kind));
            return new Results(engine.id(), running.settings(), machine, sheets);
        }
    }

    /** W7 comes last, since it needs the server for itself: all clients end before it. */
    private static List<Workload> inOrder(List<Workload> workloads) {
        return workloads.stream()
                .sorted(Comparator.comparing(workload -> workload == Workload.W7))
                .toList();
    }

    private static Map<String, String> machine() {
        Map<String, String> machine = new LinkedHashMap<>();
        machine.put("JDK", Runtime.version().toString());
        machine.put("processors", Integer.toString(Runtime.getRuntime().availableProcessors()));
        machine.put(
                "load before",
                Measure.human(ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage()));
        machine.put("system", System.getProperty("os.name") + " " + System.getProperty("os.arch"));
        return machine;
    }

    private void print(Results results) {
        out.println(
                results.kind().title + ": " + Page.list(results.machine()) + "; " + Page.list(results.server()) + "\n");
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
