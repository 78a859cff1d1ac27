package dev.lockstep.cli;

import dev.lockstep.HolderInfo;
import dev.lockstep.LockAdmin;
import dev.lockstep.LockClient;
import dev.lockstep.WaitGraph;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Shows holders that wait for other locks, and deadlocks among them. */
@Command(
        name = "deadlocks",
        description = "Shows which holders of locks wait for other locks, and whether they wait for each other. The"
                + " exit code is 3 if there is a deadlock.")
final class DeadlocksCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private EngineOptions engine = new EngineOptions();

    @Parameters(
            arity = "0..1",
            paramLabel = "PREFIX",
            description = "Begin at locks whose names have this prefix (default: at all), and show these and the locks"
                    + " that their holders wait for, directly or through others.",
            defaultValue = "")
    private String prefix = "";

    @Option(names = "--json", description = "Print JSON on one line.")
    private boolean json;

    @Option(
            names = "--interval",
            paramLabel = "SECONDS",
            description = "How long after the first reading a cycle is read again (default: 1).",
            defaultValue = "1")
    private Duration interval = Duration.ofSeconds(1);

    @Override
    public Integer call() {
        if (interval.isZero()) {
            throw new ParameterException(spec.commandLine(), "--interval must be positive");
        }
        WaitGraph graph;
        List<WaitGraph.Cycle> deadlocks = List.of();
        String elsewhere = null;
        try (LockClient client = engine.connect()) {
            LockAdmin locks = client.admin(engine.namespace());
            graph = locks.waitGraph(prefix);
            if (!graph.cycles().isEmpty()) {
                LockSupport.parkNanos(interval.toNanos());
                WaitGraph again = locks.waitGraph(prefix);
                deadlocks = again.deadlocks(graph);
                graph = again;
            }
            if (graph.edges().isEmpty()) {
                elsewhere = Namespaces.elsewhere(
                        client,
                        engine.namespace(),
                        admin -> !admin.waitGraph(prefix).edges().isEmpty());
            }
        } catch (IllegalArgumentException e) {
            throw engine.unusable(e);
        }
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.println(Json.write(toJson(graph, deadlocks)));
        } else if (graph.edges().isEmpty()) {
            out.println("none: no holder of a lock waits for another lock");
        } else {
            print(graph, deadlocks, out);
        }
        if (elsewhere != null) {
            spec.commandLine()
                    .getErr()
                    .println("lockstep: none in namespace '" + engine.namespace()
                            + "', but holders wait for other locks in " + elsewhere + " (see --namespace)");
        }
        return deadlocks.isEmpty() ? ExitCodes.OK : ExitCodes.DEADLOCK;
    }

    private static void print(WaitGraph graph, List<WaitGraph.Cycle> deadlocks, PrintWriter out) {
        TextTable table = new TextTable(
                "DEADLOCK",
                "CLIENT",
                "HOST",
                "PID",
                "THREAD",
                "HOLDS",
                "MODE",
                "TOKEN",
                "WAITS FOR",
                "SINCE",
                "RECORD");
        List<WaitGraph.Edge> others = new ArrayList<>(graph.edges());
        for (int i = 0; i < deadlocks.size(); i++) {
            for (WaitGraph.Edge edge : deadlocks.get(i).edges()) {
                add(table, Integer.toString(i + 1), edge);
                others.remove(edge);
            }
        }
        others.forEach(edge -> add(table, "-", edge));
        table.print(out);
    }

    private static void add(TextTable table, String number, WaitGraph.Edge edge) {
        HolderInfo who = edge.holder().holder();
        table.add(
                number,
                who.client(),
                who.host(),
                who.pid(),
                edge.waitsFor().thread(),
                edge.lock(),
                LockInfos.mode(edge.holder()),
                LockInfos.token(edge.holder()),
                edge.waitsFor().lock(),
                edge.waitsFor().since(),
                edge.isCertain() ? "certain" : "possibly outdated");
    }

    private static Map<String, Object> toJson(WaitGraph graph, List<WaitGraph.Cycle> deadlocks) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put(
                "deadlocks",
                deadlocks.stream()
                        .map(cycle -> cycle.edges().stream()
                                .map(DeadlocksCommand::toJson)
                                .toList())
                        .toList());
        json.put("waits", graph.edges().stream().map(DeadlocksCommand::toJson).toList());
        return json;
    }

    private static Map<String, Object> toJson(WaitGraph.Edge edge) {
        HolderInfo who = edge.holder().holder();
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("lock", edge.lock());
        json.put("mode", LockInfos.mode(edge.holder()));
        edge.holder().token().ifPresent(token -> json.put("token", Long.toString(token)));
        json.put("client", who.client());
        json.put("host", who.host());
        json.put("pid", who.pid());
        json.put("thread", edge.waitsFor().thread());
        json.put("waitsFor", edge.waitsFor().lock());
        json.put("waitsMode", edge.waitsFor().mode().name().toLowerCase(Locale.ROOT));
        json.put("waitsSince", edge.waitsFor().since().toString());
        json.put("hasDeadline", edge.waitsFor().isBounded());
        json.put("certain", edge.isCertain());
        return json;
    }
}
