package dev.lockstep.cli;

import dev.lockstep.LockClient;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Measures an engine, quickly. */
@Command(
        name = "bench",
        description = {
            "Measures, for a few seconds each: acquiring and releasing a free lock; many threads on one lock; and the"
                    + " time from one client's release to the next one's grant."
        })
final class BenchCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private EngineOptions engine = new EngineOptions();

    @Option(
            names = "--seconds",
            paramLabel = "SECONDS",
            description = "How long each measurement takes (default: ${DEFAULT-VALUE}).",
            defaultValue = "2")
    private Duration time = Duration.ofSeconds(2);

    @Option(
            names = "--threads",
            paramLabel = "N",
            description = "How many threads contend for one lock (default: ${DEFAULT-VALUE}).",
            defaultValue = "8")
    private int threads;

    @Option(names = "--json", description = "Print JSON on one line.")
    private boolean json;

    @Override
    public Integer call() throws Exception {
        if (threads < 1 || threads > 1_000 || time.isZero()) {
            throw new ParameterException(
                    spec.commandLine(), "--threads must be between 1 and 1000, and --seconds positive");
        }
        String url = engine.url(null);
        Map<String, Waits> measured = new LinkedHashMap<>();
        Map<String, Object> meters;
        try (LockClient one = engine.connect(url, builder -> builder);
                LockClient other = engine.connect(url, builder -> builder)) {
            Bench bench = new Bench(one, other, time);
            bench.pairs(1); // loads classes, warms up
            measured.put("free lock", bench.pairs(1));
            measured.put(threads + " threads", bench.pairs(threads));
            meters = meters(url);
            if (!url.equals("memory:")) { // which is a client's own
                measured.put("hand-off", bench.handOffs());
            }
        }
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            Map<String, Object> answer = new LinkedHashMap<>();
            measured.forEach((what, waits) -> answer.put(what, toJson(waits)));
            answer.put("meters", meters);
            out.println(Json.write(answer));
        } else {
            print(out, measured);
            out.println();
            out.println(meters.entrySet().stream()
                            .map(meter -> meter.getKey() + " " + meter.getValue())
                            .collect(Collectors.joining(", "))
                    + " while they were counted, with " + threads + " threads");
        }
        return ExitCodes.OK;
    }

    /**
     * Counts what the threads do, under the names of the meters; in a separate run, since counting slows the
     * measurements down.
     */
    private Map<String, Object> meters(String url) throws InterruptedException {
        MeterCounts counts = new MeterCounts();
        try (LockClient one = engine.connect(url, builder -> builder.observer(counts));
                LockClient other = engine.connect(url, builder -> builder)) {
            new Bench(one, other, time).pairs(threads);
        }
        return counts.toJson();
    }

    private Map<String, Object> toJson(Waits waits) {
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("count", waits.count());
        answer.put("perSecond", perSecond(waits));
        answer.put("millis", waits.toJson());
        return answer;
    }

    private double perSecond(Waits waits) {
        return waits.count() / (time.toNanos() / 1e9);
    }

    private void print(PrintWriter out, Map<String, Waits> measured) {
        TextTable table = new TextTable("MEASURED", "TIMES", "PER SECOND", "P50", "P99", "MAX");
        measured.forEach((what, waits) -> table.add(
                what,
                waits.count(),
                String.format(Locale.ROOT, "%.0f", perSecond(waits)),
                waits.shown(0.5),
                waits.shown(0.99),
                waits.shown(1)));
        table.print(out);
        measured.forEach((what, waits) -> {
            out.println();
            out.println(what + (what.equals("hand-off") ? ", from release to grant:" : ", acquired and released:"));
            Histogram.print(waits, out);
        });
    }
}
