package dev.lockstep.benchmarks;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * The selection of measurements.
 *
 * @param engines on which engines
 * @param workloads which of them
 * @param names parts of the names of the peers to run; none means all
 * @param plan for how long
 * @param quick whether this is a first look
 * @param history how many locks are acquired and released on the server before anything is measured
 * @param idle for how many milliseconds clients rest before each operation; 0 if they do not
 * @param root the project
 * @param json where results go
 */
record Options(
        List<Engine> engines,
        List<Workload> workloads,
        List<String> names,
        Plan plan,
        boolean quick,
        int history,
        int idle,
        Path root,
        Path json) {
    private static final Set<String> WITH_VALUE =
            Set.of("--engine", "--workload", "--peer", "--windows", "--seconds", "--history", "--idle", "--json");

    /** The folder from which the user called {@code run}; relative paths start there. */
    private static final String FOLDER = "lockstep.benchmarks.folder";

    /**
     * Reads the command line.
     *
     * @throws IllegalArgumentException if something is missing, unknown, or could not be used after the measurement
     */
    static Options parse(List<String> words) {
        Path root = Path.of("").toAbsolutePath();
        return parse(words, root, folder());
    }

    static Path folder() {
        return Path.of(System.getProperty(FOLDER, "")).toAbsolutePath();
    }

    static Options parse(List<String> words, Path root, Path folder) {
        List<Engine> engines = new ArrayList<>();
        List<Workload> workloads = new ArrayList<>();
        List<String> names = new ArrayList<>();
        UnaryOperator<Plan> changes = UnaryOperator.identity();
        boolean quick = false;
        int history = 0;
        int idle = 0;
        Path json = null;
        for (int i = 0; i < words.size(); i++) {
            String word = words.get(i);
            if (word.equals("--quick")) {
                quick = true;
                continue;
            }
            requireKnown(word);
            String value = value(word, words, ++i);
            UnaryOperator<Plan> others = changes;
            switch (word) {
                case "--engine" -> engines.addAll(engines(value));
                case "--workload" -> workloads.addAll(workloads(value));
                case "--peer" -> names.addAll(peers(value));
                case "--windows" -> {
                    int windows = whole(word, value);
                    changes = plan -> others.apply(plan).withWindows(windows);
                }
                case "--seconds" -> {
                    double seconds = positive(word, value);
                    changes = plan -> others.apply(plan).withSeconds(seconds);
                }
                case "--idle" -> idle = whole(word, value);
                case "--history" -> history = whole(word, value);
                default -> json = writable(folder.resolve(value).normalize());
            }
        }
        Options options = new Options(
                engines.isEmpty() ? List.of(Engine.values()) : List.copyOf(new LinkedHashSet<>(engines)),
                workloads.isEmpty() ? List.of(Workload.values()) : List.copyOf(new LinkedHashSet<>(workloads)),
                names,
                changes.apply(quick ? Plan.QUICK : Plan.FULL).withIdle(idle),
                quick,
                history,
                idle,
                root,
                json == null ? root.resolve("testing/benchmarks/target/benchmarks/results.json") : json);
        options.requireSomething();
        return options;
    }

    /** Each engine that is named must have one of the workloads, and each peer must take part in one of them somewhere. */
    private void requireSomething() {
        List<Entrant> wanted = new ArrayList<>();
        for (Engine engine : engines) {
            List<Entrant> here = Entrant.of(engine).stream()
                    .filter(entrant -> workloads.stream().anyMatch(entrant.workloads()::contains))
                    .toList();
            if (here.stream().noneMatch(entrant -> entrant.kind() == Entrant.Kind.LOCKSTEP)
                    && engines.size() < Engine.values().length) {
                throw new IllegalArgumentException("There is nothing to measure on " + engine.id()
                        + ": it has none of the workloads " + workloads);
            }
            wanted.addAll(here);
        }
        for (String name : names) {
            if (wanted.stream()
                    .noneMatch(entrant -> entrant.kind() == Entrant.Kind.PEER
                            && entrant.name().toLowerCase(Locale.ROOT).contains(name))) {
                throw new IllegalArgumentException("No peer " + name + " on "
                        + engines.stream().map(Engine::id).toList() + " takes part in the workloads " + workloads);
            }
        }
    }

    private static void requireKnown(String word) {
        if (!WITH_VALUE.contains(word)) {
            throw new IllegalArgumentException("Unknown option " + word + "; see --help");
        }
    }

    static String value(String option, List<String> words, int index) {
        String value = index < words.size() ? words.get(index) : "";
        if (value.isBlank() || value.startsWith("--")) {
            throw new IllegalArgumentException(option + " needs a value; see --help");
        }
        return value;
    }

    /** Results that cannot be written must be noticed before anything is measured. */
    private static Path writable(Path file) {
        Path folder = file.getParent();
        if (Files.isDirectory(file)) {
            throw new IllegalArgumentException("--json needs a file, but " + file + " is a folder");
        }
        if (folder == null || !Files.isDirectory(folder)) {
            throw new IllegalArgumentException("--json: the folder of " + file + " does not exist");
        }
        if (!Files.isWritable(folder) || (Files.exists(file) && !Files.isWritable(file))) {
            throw new IllegalArgumentException("--json: " + file + " cannot be written");
        }
        return file;
    }

    static List<String> split(String value) {
        List<String> parts = Arrays.stream(value.split(","))
                .map(String::strip)
                .filter(part -> !part.isEmpty())
                .toList();
        if (parts.isEmpty()) {
            throw new IllegalArgumentException("'" + value + "' names nothing; see --help");
        }
        return parts;
    }

    static List<Engine> engines(String value) {
        return split(value).stream()
                .map(id -> Engine.of(id)
                        .orElseThrow(() -> new IllegalArgumentException("No engine " + id + "; there are "
                                + Arrays.stream(Engine.values()).map(Engine::id).toList())))
                .toList();
    }

    private static List<Workload> workloads(String value) {
        return split(value).stream().flatMap(Options::workload).toList();
    }

    private static Stream<Workload> workload(String word) {
        List<Workload> found = Arrays.stream(Workload.values())
                .filter(workload -> workload.isMeantBy(word))
                .toList();
        if (found.isEmpty()) {
            throw new IllegalArgumentException(
                    "No workload " + word + "; there are " + Arrays.toString(Workload.values()));
        }
        return found.stream();
    }

    private static List<String> peers(String value) {
        List<String> all = Arrays.stream(Engine.values())
                .flatMap(engine -> Entrant.of(engine).stream())
                .filter(entrant -> entrant.kind() == Entrant.Kind.PEER)
                .map(Entrant::name)
                .distinct()
                .toList();
        List<String> words = split(value.toLowerCase(Locale.ROOT));
        for (String word : words) {
            if (all.stream().noneMatch(name -> name.toLowerCase(Locale.ROOT).contains(word))) {
                throw new IllegalArgumentException("No peer " + word + "; there are " + all);
            }
        }
        return words;
    }

    static int whole(String option, String value) {
        double number = positive(option, value);
        if (number != Math.rint(number) || number > Integer.MAX_VALUE) {
            throw new IllegalArgumentException(option + " needs a whole number, not '" + value + "'; see --help");
        }
        return (int) number;
    }

    static double positive(String option, String value) {
        double number;
        try {
            number = Double.parseDouble(value);
        } catch (NumberFormatException e) {
            number = 0;
        }
        if (!(number > 0) || Double.isInfinite(number)) {
            throw new IllegalArgumentException(option + " needs a number above 0, not '" + value + "'; see --help");
        }
        return number;
    }

    boolean wants(Entrant entrant) {
        return names.isEmpty()
                || entrant.kind() != Entrant.Kind.PEER
                || names.stream().anyMatch(entrant.name().toLowerCase(Locale.ROOT)::contains);
    }

    /** A first look, one with peers left out, with a history or with idle clients does not change the page. */
    boolean isForThePage() {
        return !quick && names.isEmpty() && history == 0 && idle == 0;
    }

    Path output() {
        return root.resolve("testing/benchmarks/target/benchmarks");
    }

    Path peers() {
        return root.resolve("testing/benchmarks/peers");
    }

    Path docs() {
        return root.resolve("docs");
    }
}
