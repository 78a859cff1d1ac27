package dev.lockstep.cli;

import dev.lockstep.LockClient;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Shows how an engine locks: a few clients step by step, and what the server has after each. */
@Command(
        name = "explain",
        description = {
            "Shows how an engine locks: two to four clients acquire a lock or permits in turn, and after each step the"
                    + " real keys, nodes or rows on the server are printed, as Markdown. Values that differ from run to"
                    + " run are replaced by names: A.1 is A's first claim, T1 a token, S1 a session or lease.",
            "If no URL is given, or it does not support the lock, the command uses its own engine: SQL in a SQLite"
                    + " file, others on a server that it starts, and downloads from Debian if it is not installed."
        })
final class ExplainCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private EngineOptions engine = new EngineOptions();

    @Parameters(
            arity = "0..*",
            paramLabel = "ENGINE",
            completionCandidates = Names.class,
            description =
                    "What to explain: ${COMPLETION-CANDIDATES} (default: everything that the URL supports; without a"
                            + " URL, everything that needs no server).")
    private List<String> names = List.of();

    @Option(
            names = "--ttl",
            paramLabel = "SECONDS",
            description = "How long a lock outlives its client (default: ${DEFAULT-VALUE}).",
            defaultValue = "30")
    private Duration ttl = Duration.ofSeconds(30);

    @Option(names = "--json", description = "Print a line of JSON for each engine.")
    private boolean json;

    /** The names to choose from. */
    static final class Names implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            return Arrays.stream(Algorithm.values()).map(Algorithm::label).iterator();
        }
    }

    @Override
    public Integer call() throws Exception {
        @Nullable String given = engine.givenUrl(null);
        List<Algorithm> chosen =
                names.isEmpty() ? all(given) : names.stream().map(this::named).toList();
        PrintWriter out = spec.commandLine().getOut();
        try (OwnEngines own = new OwnEngines()) {
            for (Algorithm algorithm : chosen) {
                List<Explanation.Step> steps = explain(
                        algorithm,
                        given != null && algorithm.family.serves(given) && !algorithm.family.isMemory()
                                ? given
                                : own.url(algorithm.family));
                if (json) {
                    out.println(Json.write(toJson(algorithm, steps)));
                } else {
                    print(out, algorithm, steps);
                }
                out.flush();
            }
        }
        return ExitCodes.OK;
    }

    private List<Algorithm> all(@Nullable String given) {
        List<Algorithm> served = Arrays.stream(Algorithm.values())
                .filter(algorithm -> given == null ? algorithm.family.isServerless() : algorithm.family.serves(given))
                .toList();
        if (served.isEmpty()) {
            throw new ParameterException(
                    spec.commandLine(),
                    "explain looks at single servers without TLS: zookeeper://, redis://, etcd:// or jdbc:");
        }
        return served;
    }

    private Algorithm named(String name) {
        return Arrays.stream(Algorithm.values())
                .filter(algorithm -> algorithm.label().equals(name))
                .findFirst()
                .orElseThrow(() -> new ParameterException(
                        spec.commandLine(),
                        "unknown engine '" + name + "'; the engines are "
                                + Arrays.stream(Algorithm.values())
                                        .map(Algorithm::label)
                                        .collect(Collectors.joining(", "))));
    }

    private List<Explanation.Step> explain(Algorithm algorithm, String at) throws Exception {
        String url = algorithm.url(at);
        String namespace = "explain-" + UUID.randomUUID().toString().substring(0, 8);
        Labels labels = new Labels(namespace);
        Function<String, LockClient> connect = client -> engine.connect(
                url,
                builder -> builder.namespace(namespace)
                        .clientName(namespace + "-" + client)
                        .ttl(ttl));
        connect.apply("view").close(); // makes the tables, and says what is wrong
        EngineView view = switch (algorithm.family) {
            case MEMORY -> new MemoryView(connect.apply("view"), labels);
            case ZOOKEEPER -> new ZooKeeperView(url, namespace, labels);
            case REDIS -> new RedisView(url, namespace, labels);
            case REDLOCK -> new RedlockView(url, namespace, labels);
            case SQL -> new SqlView(url, namespace, labels);
            case ETCD -> new EtcdView(url, namespace, labels);
        };
        try (Explanation explanation = new Explanation(algorithm, connect, view, labels)) {
            return explanation.play();
        }
    }

    private static Map<String, Object> toJson(Algorithm algorithm, List<Explanation.Step> steps) {
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("engine", algorithm.label());
        answer.put("about", algorithm.about);
        List<Map<String, Object>> list = new ArrayList<>();
        for (Explanation.Step step : steps) {
            Map<String, Object> one = new LinkedHashMap<>();
            one.put("step", step.title());
            one.put("server", step.state());
            list.add(one);
        }
        answer.put("steps", list);
        return answer;
    }

    private static void print(PrintWriter out, Algorithm algorithm, List<Explanation.Step> steps) {
        out.println("## " + algorithm.label());
        out.println();
        out.println(algorithm.about);
        out.println((algorithm.isSemaphore()
                        ? "The semaphore of " + Algorithm.PERMITS + " permits is `"
                        : algorithm.isElection() ? "The election is `" : "The lock is `")
                + Explanation.LOCK + "` in the namespace `app`.");
        out.println();
        int number = 0;
        for (Explanation.Step step : steps) {
            number++;
            out.println(number + ". " + step.title());
            out.println();
            out.println("   ```");
            (step.state().isEmpty() ? List.of("(nothing)") : step.state()).forEach(line -> out.println("   " + line));
            out.println("   ```");
            out.println();
        }
    }
}
