package dev.lockstep.benchmarks;

import dev.lockstep.benchmarks.Results.Cell;
import dev.lockstep.benchmarks.Results.Sheet;
import dev.lockstep.benchmarks.worker.Guard;
import dev.lockstep.benchmarks.worker.Order;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/**
 * Where contenders meet: one server, and client processes that stay from workload to workload. In each round every contender
 * has one window, in an order that changes from round to round, so that what disturbs the machine disturbs all of them.
 */
final class Stage implements AutoCloseable {
    /** A contender that is this late hangs. */
    private static final Duration PATIENCE = Duration.ofMinutes(3);

    private static final int LOCKS = 10_000;
    private static final int HISTORY_STEP = 10_000;
    private static final int HISTORY_NAMES = 1600;
    private static final String WARM_UP = "  (warm-up)";

    private final RunningEngine engine;
    private final Plan plan;
    private final Path peers;
    private final Path output;
    private final Consumer<String> progress;
    private final Guard guard;
    private final Path guardFile;
    private final Map<Entrant, List<WorkerProcess>> workers = new HashMap<>();
    private int locks;

    Stage(RunningEngine engine, Plan plan, Path peers, Path output, Consumer<String> progress) throws IOException {
        this.engine = engine;
        this.plan = plan;
        this.peers = peers;
        this.output = output;
        this.progress = progress;
        guardFile = output.resolve("guard");
        guard = new Guard(guardFile);
    }

    /** Measures a workload. A contender that fails is left out, and said so. */
    Sheet measure(Workload workload, List<Entrant> entrants) throws InterruptedException {
        Conditions conditions = Conditions.now(engine.settings());
        List<Part> parts = entrants.stream().map(Part::new).toList();
        if (workload == Workload.W7) {
            parts.forEach(part -> trying(part.entrant, workload, () -> part.windows.addAll(hold(part.entrant))));
        } else {
            List<Part> fit = new ArrayList<>(parts);
            fit.removeIf(part -> !trying(part.entrant, workload, () -> warmUp(part.entrant, workload)));
            for (int round = 0; round < plan.windows(); round++) {
                Collections.rotate(fit, 1);
                fit.removeIf(part -> !trying(
                        part.entrant,
                        workload,
                        () -> part.windows.add(
                                window(part.entrant, workload, plan.order(workload), plan.millis(), ""))));
            }
        }
        workers.values().forEach(Stage::keepOne);
        List<Cell> cells = parts.stream().map(part -> part.cell(peers)).toList();
        String now = Instant.now().truncatedTo(ChronoUnit.MINUTES).toString();
        return new Sheet(workload.name(), plan.text(workload), now, conditions, cells);
    }

    /** Gives the server a history: locks that were acquired and released before. */
    void makeHistory(Entrant entrant, int pairs) throws InterruptedException {
        WorkerProcess worker = crew(entrant, Workload.W1).get(0);
        for (int done = 0; done < pairs; done += HISTORY_STEP) {
            int step = Math.min(HISTORY_STEP, pairs - done);
            worker.carryOut(order("history threads=16 names=" + HISTORY_NAMES + " pairs=" + step, false, 0), PATIENCE);
            progress.accept("History: " + (done + step) + " of " + pairs + " locks acquired and released");
        }
    }

    /** The results of a contender so far. */
    private record Part(Entrant entrant, List<Map<String, Double>> windows) {
        Part(Entrant entrant) {
            this(entrant, new ArrayList<>());
        }

        Cell cell(Path peers) {
            return new Cell(entrant.name(), entrant.kind(), Versions.of(entrant, peers), List.copyOf(windows));
        }
    }

    private interface Step {
        void run() throws InterruptedException;
    }

    private boolean trying(Entrant entrant, Workload workload, Step step) {
        try {
            step.run();
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        } catch (IllegalStateException e) {
            progress.accept(workload + "  FAILED: " + e.getMessage());
            dismiss(entrant);
            return false;
        }
    }

    /**
     * A window that does not count. Of a new process two that are longer, the first with many threads, which run the same code
     * more often in that time: it is compiled while it runs.
     */
    private void warmUp(Entrant entrant, Workload workload) throws InterruptedException {
        boolean isNew = workers.getOrDefault(entrant, List.of()).size() < workload.processes();
        int millis = isNew || workload.isRare() ? Math.max(plan.millis(), plan.compileMillis()) : plan.millis();
        if (isNew) {
            Workload first = workload.processes() == 1 ? Workload.W2 : workload;
            window(entrant, first, first.warmUpOrder(), millis, WARM_UP);
        }
        window(entrant, workload, workload.warmUpOrder(), millis, WARM_UP);
    }

    private Map<String, Double> window(Entrant entrant, Workload workload, String text, int millis, String note)
            throws InterruptedException {
        List<WorkerProcess> crew = crew(entrant, workload);
        Order order = order(text, workload.isDelayed(), millis);
        guard.reset();
        double requests = engine.requests();
        double cpu = engine.cpuMicros();
        List<CompletableFuture<Order>> answers =
                crew.stream().map(worker -> worker.start(order)).toList();
        List<Map<String, String>> told = new ArrayList<>();
        for (int i = 0; i < crew.size(); i++) {
            try {
                told.add(answers.get(i)
                        .get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)
                        .values());
            } catch (ExecutionException | TimeoutException e) {
                throw crew.get(i).failure(order, e);
            }
        }
        Map<String, Double> found = join(told);
        addCosts(found, engine.cpuMicros() - cpu, engine.requests() - requests);
        found.put(
                Measure.LOST.key, found.getOrDefault("counted", 0.0) - guard.count() + found.getOrDefault("torn", 0.0));
        found.keySet().removeAll(List.of("counted", "torn", "operations", "all", "cpuMicros"));
        progress.accept(workload + "  " + entrant.name() + "  "
                + Measure.human(found.getOrDefault(workload.figure.key, 0.0)) + " " + workload.figure.title
                + note
                + (found.getOrDefault(Measure.LOST.key, 0.0) == 0 ? "" : "  NOT EXCLUSIVE"));
        return found;
    }

    /** The cost for the server and the clients, per operation if there are many, as far as it is counted. */
    private void addCosts(Map<String, Double> found, double cpu, double requests) {
        found.put(Measure.REQUESTS.key, requests);
        double all = found.getOrDefault("all", 0.0);
        if (all > 0) {
            found.put(Measure.CLIENT.key, found.getOrDefault("cpuMicros", 0.0) / all);
            found.put(Measure.SERVER.key, cpu / all);
        }
        if (all > 0 && engine.countsAtOnce()) {
            found.put(Measure.EACH.key, requests / all);
        }
        found.values().removeIf(value -> value.isNaN());
    }

    /** The joint result of processes: speeds add up, and shares are those of processes. */
    private static Map<String, Double> join(List<Map<String, String>> told) {
        Map<String, Double> sum = new LinkedHashMap<>();
        for (Map<String, String> one : told) {
            one.forEach((key, value) -> sum.merge(key, Double.valueOf(value), Double::sum));
        }
        if (told.size() > 1) {
            Spread shares = Spread.of(told.stream()
                    .map(one -> Double.valueOf(one.getOrDefault("operations", "0")))
                    .toList());
            sum.put(Measure.SHARE.key, shares.max() / Math.max(1, shares.min()));
            sum.remove(Measure.P50.key);
            sum.remove(Measure.P99.key);
        }
        sum.values().removeIf(value -> value.isNaN()); // nothing was done in all that time
        return sum;
    }

    private List<Map<String, Double>> hold(Entrant entrant) throws InterruptedException {
        List.copyOf(workers.keySet()).forEach(this::dismiss); // idle clients talk to the server too
        WorkerProcess worker = crew(entrant, Workload.W7).get(0);
        Map<String, String> taken = worker.carryOut(order("take locks=" + LOCKS, false, 0), PATIENCE);
        double heap = Double.parseDouble(taken.getOrDefault("heap", "NaN"));
        int length = Plan.HOLD_MILLIS / plan.holdStepMillis();
        List<Held> seen = new ArrayList<>(List.of(new Held(System.nanoTime(), engine.requests(), 0)));
        while (seen.size() < length + Plan.HOLD_WINDOWS) {
            Map<String, String> step =
                    worker.carryOut(order(Workload.W7.order(), false, plan.holdStepMillis()), PATIENCE);
            double cpu = Double.parseDouble(step.getOrDefault("cpu", "NaN"));
            seen.add(new Held(System.nanoTime(), engine.requests(), seen.get(seen.size() - 1).cpu + cpu / length));
        }
        dismiss(entrant); // with the locks that it holds
        List<Map<String, Double>> found = new ArrayList<>();
        for (int i = 0; i < Plan.HOLD_WINDOWS; i++) {
            found.add(seen.get(i + length).since(seen.get(i), heap));
            progress.accept("W7  " + entrant.name() + "  "
                    + Measure.human(found.get(i).getOrDefault(Measure.RATE.key, Double.NaN)) + " requests/s");
        }
        return found;
    }

    /** The results so far of a client that holds many locks. */
    private record Held(long nanos, double requests, double cpu) {
        Map<String, Double> since(Held begin, double heap) {
            Map<String, Double> values = new LinkedHashMap<>();
            values.put(Measure.RATE.key, (requests - begin.requests) / ((nanos - begin.nanos) / 1e9));
            values.put(Measure.CPU.key, cpu - begin.cpu);
            values.put(Measure.HEAP.key, heap);
            values.values().removeIf(value -> value.isNaN());
            return values;
        }
    }

    private Order order(String text, boolean delayed, int millis) {
        return Order.parse(text + " url=" + engine.url(delayed) + " lock=bench-" + ++locks + " millis=" + millis
                + " guard=" + guardFile);
    }

    private List<WorkerProcess> crew(Entrant entrant, Workload workload) throws InterruptedException {
        List<WorkerProcess> crew = workers.computeIfAbsent(entrant, unused -> new ArrayList<>());
        while (crew.size() < workload.processes()) {
            WorkerProcess worker = new WorkerProcess(entrant, peers, output.resolve("workers.log"));
            crew.add(worker);
            worker.carryOut(order("open", false, 0), PATIENCE);
        }
        return List.copyOf(crew.subList(0, workload.processes()));
    }

    /** Ends the processes that only one workload needs: their connections may be all that the server allows. */
    private static void keepOne(List<WorkerProcess> crew) {
        while (crew.size() > 1) {
            crew.remove(1).close();
        }
    }

    private void dismiss(Entrant entrant) {
        List<WorkerProcess> crew = workers.remove(entrant);
        if (crew != null) {
            crew.forEach(WorkerProcess::close);
        }
    }

    @Override
    public void close() throws IOException {
        List.copyOf(workers.keySet()).forEach(this::dismiss);
        guard.close();
    }
}
