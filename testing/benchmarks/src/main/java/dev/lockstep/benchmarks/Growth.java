package dev.lockstep.benchmarks;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import dev.lockstep.benchmarks.worker.Order;
import dev.lockstep.servers.ServerException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Measures how costs grow with what is kept and connected: for each engine and curve, Lockstep and the first peer in turn
 * at each point. Each has a new server of its own, because what it keeps and connects stays until the end of the curve.
 * Results and pictures are written after each point.
 */
final class Growth {
    private static final Duration PATIENCE = Duration.ofMinutes(10);
    private static final int JVMS = 3;
    private static final int THREADS = 16;
    private static final Gson GSON = new GsonBuilder().setPrettyPrinting().create();

    /** The measures at one point. */
    record Point(int n, Map<String, Double> values) {}

    /** One contender on one curve. */
    record Line(String engine, String curve, String contender, Conditions conditions, List<Point> points) {}

    private final GrowthOptions options;
    private final Function<Engine, RunningEngine> servers;
    private final Path guard;
    private final List<Line> lines = new ArrayList<>();
    private int locks;

    private Growth(GrowthOptions options, Function<Engine, RunningEngine> servers) {
        this.options = options;
        this.servers = servers;
        this.guard = options.output().resolve("guard");
    }

    /** Runs; false if something failed. */
    static boolean run(GrowthOptions options, Function<Engine, RunningEngine> servers)
            throws IOException, InterruptedException {
        Files.createDirectories(options.output());
        boolean all = true;
        for (Engine engine : options.engines()) {
            for (Curve curve : options.curves()) {
                try {
                    new Growth(options, servers).measure(engine, curve, options.json(engine, curve));
                } catch (ServerException | IllegalStateException e) {
                    System.err.println(engine.title + " " + curve.id() + ": FAILED: " + e.getMessage());
                    all = false;
                }
            }
        }
        return all;
    }

    private void measure(Engine engine, Curve curve, Path json) throws IOException, InterruptedException {
        List<Contestant> contestants = new ArrayList<>();
        try {
            for (Entrant entrant : entrants(engine, curve)) {
                RunningEngine running = servers.apply(engine);
                contestants.add(new Contestant(running, entrant));
                lines.add(new Line(
                        engine.id(),
                        curve.id(),
                        entrant.name(),
                        Conditions.now(running.settings()),
                        new ArrayList<>()));
            }
            for (int n : curve.points(engine, options.most())) {
                for (int i = 0; i < contestants.size(); i++) {
                    Map<String, Double> values = contestants.get(i).point(curve, n);
                    lines.get(i).points().add(new Point(n, values));
                    System.err.println(engine.title + " " + curve.id() + " " + n + "  "
                            + lines.get(i).contender() + "  "
                            + Measure.human(values.getOrDefault(curve.figure.key, Double.NaN)) + " "
                            + curve.figure.title);
                    Results.write(json, GSON.toJson(lines) + "\n");
                    Results.write(options.picture(engine, curve), GrowthChart.of(curve, lines));
                }
            }
        } finally {
            contestants.forEach(Contestant::close);
        }
        System.out.println(engine.title + ", " + curve.title + "\n\n" + GrowthChart.table(curve, lines)
                + GrowthChart.goal(engine, curve, lines.get(0)));
    }

    /** Lockstep's plain lock, or its fair one, and the first peer. */
    static List<Entrant> entrants(Engine engine, Curve curve) {
        List<Entrant> all = Entrant.of(engine);
        String own = curve.isOfProcesses() ? Entrant.FAIR : Entrant.LOCKSTEP;
        List<Entrant> chosen = new ArrayList<>();
        chosen.add(all.stream()
                .filter(entrant -> entrant.name().equals(own))
                .findFirst() // its other variants are semaphores and elections
                .orElse(all.get(0)));
        all.stream()
                .filter(entrant -> entrant.kind() == Entrant.Kind.PEER)
                .findFirst()
                .ifPresent(chosen::add);
        return chosen;
    }

    /** One contender with its server and its processes. */
    private final class Contestant {
        private final RunningEngine engine;
        private final Entrant entrant;
        private final List<WorkerProcess> workers = new ArrayList<>();
        private final String used = "used-" + ++locks;
        private int done;

        Contestant(RunningEngine engine, Entrant entrant) {
            this.engine = engine;
            this.entrant = entrant;
        }

        Map<String, Double> point(Curve curve, int n) throws InterruptedException {
            Map<String, Double> values = switch (curve) {
                case USES -> {
                    first("history threads=1 names=1 pairs=" + (n - done), used);
                    yield numbers(first("pairs threads=1 names=own millis=" + options.millis(), used));
                }
                case NAMES -> {
                    int names = (n - done) / THREADS * THREADS;
                    first("history threads=" + THREADS + " names=" + names + " pairs=" + names, fresh());
                    yield numbers(first("pairs threads=1 names=own millis=" + options.millis(), fresh()));
                }
                case HELD -> {
                    first("take locks=" + (n - done), fresh());
                    yield numbers(first("pairs threads=1 names=own millis=" + options.millis(), fresh()));
                }
                case WAITERS -> {
                    Map<String, Double> crowd = numbers(first("crowd settle=1000 threads=" + n, fresh()));
                    crowd.computeIfPresent(Measure.MILLIS.key, (key, ms) -> ms / n);
                    yield crowd;
                }
                case PROCESSES -> together(n, "pairs threads=1 names=one millis=" + options.millis());
                case WAITING -> waiting(n);
                case CLIENTS -> clients(n);
            };
            done = n;
            values.remove("counted");
            values.values().removeIf(value -> value.isNaN());
            return values;
        }

        private Map<String, String> first(String order, String lock) throws InterruptedException {
            return worker(0).carryOut(order(order, lock), PATIENCE);
        }

        private WorkerProcess worker(int index) throws InterruptedException {
            while (workers.size() <= index) {
                WorkerProcess worker = new WorkerProcess(
                        entrant, options.peers(), options.output().resolve("workers.log"));
                workers.add(worker);
                worker.carryOut(order("open", fresh()), PATIENCE);
            }
            return workers.get(index);
        }

        /** All processes at once: locks per second of all of them, and what that costs the server. */
        private Map<String, Double> together(int n, String text) throws InterruptedException {
            worker(n - 1);
            String lock = fresh();
            double cpu = engine.cpuMicros();
            long start = System.nanoTime();
            List<CompletableFuture<Order>> answers = new ArrayList<>();
            for (int i = 0; i < n; i++) {
                answers.add(worker(i).start(order(text, lock)));
            }
            Map<String, Double> sum = new LinkedHashMap<>();
            for (CompletableFuture<Order> answer : answers) {
                numbers(await(answer).values()).forEach((key, value) -> sum.merge(key, value, Double::sum));
            }
            sum.keySet().retainAll(List.of(Measure.OPS.key));
            sum.put(Measure.SERVER_SHARE.key, share(cpu, start));
            return sum;
        }

        /** One process holds a lock, and the clients of others wait for it. */
        private Map<String, Double> waiting(int n) throws InterruptedException {
            if (done == 0) {
                worker(0).carryOut(order("take locks=1", used), PATIENCE);
            }
            spread("wait", n, used + "-0");
            return observe(Plan.HOLD_MILLIS, worker(0));
        }

        private Map<String, Double> clients(int n) throws InterruptedException {
            spread("clients", n, null);
            return observe(Plan.HOLD_MILLIS, worker(0));
        }

        /** Connects as many clients as are missing, in a few processes beside the first. */
        private void spread(String word, int n, @Nullable String lock) throws InterruptedException {
            for (int i = 0; i < JVMS; i++) {
                int more = n * (i + 1) / JVMS - n * i / JVMS - (done * (i + 1) / JVMS - done * i / JVMS);
                if (more > 0) {
                    worker(i + 1).carryOut(order(word + " clients=" + more, lock == null ? fresh() : lock), PATIENCE);
                }
            }
        }

        private Map<String, Double> observe(int millis, WorkerProcess any) throws InterruptedException {
            double cpu = engine.cpuMicros();
            double requests = engine.requests();
            long start = System.nanoTime();
            any.carryOut(order("hold millis=" + millis, fresh()), PATIENCE);
            Map<String, Double> values = new LinkedHashMap<>();
            values.put(Measure.SERVER_SHARE.key, share(cpu, start));
            values.put(Measure.RATE.key, (engine.requests() - requests) / ((System.nanoTime() - start) / 1e9));
            return values;
        }

        private double share(double cpuBefore, long start) {
            return 100 * (engine.cpuMicros() - cpuBefore) / ((System.nanoTime() - start) / 1e3);
        }

        private Order await(CompletableFuture<Order> answer) throws InterruptedException {
            try {
                return answer.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
            } catch (ExecutionException | TimeoutException e) {
                throw new IllegalStateException(entrant.name() + " failed", e);
            }
        }

        private Order order(String text, String lock) {
            return Order.parse(text + " url=" + engine.url(false) + " lock=" + lock + " guard=" + guard);
        }

        private String fresh() {
            return "growth-" + ++locks;
        }

        void close() {
            workers.forEach(WorkerProcess::close);
            engine.close();
        }
    }

    private static Map<String, Double> numbers(Map<String, String> values) {
        Map<String, Double> numbers = new LinkedHashMap<>();
        values.forEach((key, value) -> {
            if (List.of("p50", "p99", "ops", "ms", "counted").contains(key)) {
                numbers.put(key, Double.valueOf(value));
            }
        });
        numbers.values().removeIf(value -> value.isNaN());
        return numbers;
    }
}
