package dev.lockstep.cli;

import dev.lockstep.EngineInfo;
import dev.lockstep.LockClient;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Connects to an engine, asks it about a lock a few times (its cheapest request), and shows what it is. */
@Command(
        name = "ping",
        description = {
            "Connects to an engine and shows what it is, how long it takes to answer, how far its clock is from this"
                    + " machine's, and what locks on it guarantee with this configuration."
        })
final class PingCommand implements Callable<Integer> {
    private static final String PROBE = "lockstep-ping";
    private static final String PAUSE =
            "A process that is paused for longer than the ttl continues without its lock, on any"
                    + " engine: send the token to the storage.";

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private EngineOptions engine = new EngineOptions();

    @Parameters(arity = "0..1", paramLabel = "URL", description = "The engine, in place of --url.")
    private @Nullable String url;

    @Option(
            names = {"-n", "--count"},
            paramLabel = "N",
            description = "How many round trips to measure (default: ${DEFAULT-VALUE}).",
            defaultValue = "5")
    private int count;

    @Option(names = "--json", description = "Print JSON on one line.")
    private boolean json;

    @Override
    public Integer call() {
        if (count < 1) {
            throw new ParameterException(spec.commandLine(), "--count must be at least 1: " + count);
        }
        String target = engine.url(url);
        PrintWriter out = spec.commandLine().getOut();
        try (LockClient client = engine.connect(target, builder -> builder)) {
            double[] millis = roundTrips(client);
            ClockReading reading = ClockReading.of(client);
            if (json) {
                out.println(Json.write(toJson(target.substring(0, target.indexOf(':')), millis, reading)));
            } else {
                print(out, millis, reading);
            }
        }
        return ExitCodes.OK;
    }

    private double[] roundTrips(LockClient client) {
        client.inspect(PROBE); // loads classes, fills caches
        double[] millis = new double[count];
        for (int i = 0; i < count; i++) {
            long start = System.nanoTime();
            client.inspect(PROBE);
            millis[i] = (System.nanoTime() - start) / 1e6;
        }
        Arrays.sort(millis);
        return millis;
    }

    private double median(double[] sorted) {
        return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
    }

    private Map<String, Object> toJson(String scheme, double[] sorted, ClockReading reading) {
        Map<String, Object> roundTrip = new LinkedHashMap<>();
        roundTrip.put("count", count);
        roundTrip.put("min", rounded(sorted[0]));
        roundTrip.put("median", rounded(median(sorted)));
        roundTrip.put("max", rounded(sorted[count - 1]));
        EngineInfo info = reading.info();
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("engine", scheme);
        answer.put("product", info.product());
        answer.put("version", info.version());
        answer.put("roundTripMillis", roundTrip);
        if (info.clock().isPresent()) {
            answer.put("clockAheadMillis", rounded(reading.aheadMillis()));
            answer.put("clockErrorMillis", rounded(reading.errorMillis()));
        }
        answer.put("guarantees", info.guarantees());
        answer.put("limits", limits(info));
        return answer;
    }

    private void print(PrintWriter out, double[] sorted, ClockReading reading) {
        EngineInfo info = reading.info();
        TextTable table =
                new TextTable("ENGINE", "VERSION", "ROUND TRIP", "FASTEST", "SLOWEST", "QUESTIONS", "ITS CLOCK");
        table.add(
                info.product(),
                info.version().isEmpty() ? "-" : info.version(),
                shown(median(sorted)),
                shown(sorted[0]),
                shown(sorted[count - 1]),
                count,
                clock(reading));
        table.print(out);
        list(out, "What this set-up guarantees:", info.guarantees());
        list(out, "What it does not:", limits(info));
    }

    private static String clock(ClockReading reading) {
        if (reading.info().clock().isEmpty()) {
            return "does not matter";
        }
        return String.format(Locale.ROOT, "%+.1f ms (give or take %.1f)", reading.aheadMillis(), reading.errorMillis());
    }

    /** With what is true of all engines. */
    private static List<String> limits(EngineInfo info) {
        List<String> limits = new ArrayList<>(info.limits());
        limits.add(PAUSE);
        return limits;
    }

    private static void list(PrintWriter out, String title, List<String> sentences) {
        if (!sentences.isEmpty()) {
            out.println();
            out.println(title);
            sentences.forEach(sentence -> out.println("- " + sentence));
        }
    }

    private static String shown(double millis) {
        return String.format(Locale.ROOT, "%.3f ms", millis);
    }

    private static double rounded(double millis) {
        return Math.round(millis * 1e6) / 1e6;
    }
}
