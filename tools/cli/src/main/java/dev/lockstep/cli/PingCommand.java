package dev.lockstep.cli;

import dev.lockstep.LockClient;
import java.io.PrintWriter;
import java.util.Arrays;
import java.util.LinkedHashMap;
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

/** Connects to an engine and asks it about a lock a few times: the public API's cheapest question. */
@Command(name = "ping", description = "Connects to an engine and tells how long it takes to answer.")
final class PingCommand implements Callable<Integer> {
    private static final String PROBE = "lockstep-ping";

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private EngineOptions engine = new EngineOptions();

    @Parameters(arity = "0..1", paramLabel = "URL", description = "The engine, in place of --url.")
    private @Nullable String url;

    @Option(
            names = {"-n", "--count"},
            paramLabel = "N",
            description = "How many questions to time (default: ${DEFAULT-VALUE}).",
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
        double[] millis = new double[count];
        try (LockClient client = engine.connect(target, builder -> builder)) {
            client.inspect(PROBE); // loads classes, fills caches
            for (int i = 0; i < count; i++) {
                long start = System.nanoTime();
                client.inspect(PROBE);
                millis[i] = (System.nanoTime() - start) / 1e6;
            }
        }
        Arrays.sort(millis);
        print(spec.commandLine().getOut(), target.substring(0, target.indexOf(':')), millis);
        return ExitCodes.OK;
    }

    private void print(PrintWriter out, String scheme, double[] sorted) {
        double median = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
        if (json) {
            Map<String, Object> roundTrip = new LinkedHashMap<>();
            roundTrip.put("count", count);
            roundTrip.put("min", rounded(sorted[0]));
            roundTrip.put("median", rounded(median));
            roundTrip.put("max", rounded(sorted[count - 1]));
            Map<String, Object> answer = new LinkedHashMap<>();
            answer.put("engine", scheme);
            answer.put("roundTripMillis", roundTrip);
            out.println(Json.write(answer));
        } else {
            TextTable table = new TextTable("ENGINE", "ROUND TRIP", "FASTEST", "SLOWEST", "QUESTIONS");
            table.add(scheme, shown(median), shown(sorted[0]), shown(sorted[count - 1]), count);
            table.print(out);
        }
    }

    private static String shown(double millis) {
        return String.format(Locale.ROOT, "%.3f ms", millis);
    }

    private static double rounded(double millis) {
        return Math.round(millis * 1e6) / 1e6;
    }
}
