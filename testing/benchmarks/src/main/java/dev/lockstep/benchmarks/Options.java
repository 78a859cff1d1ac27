package dev.lockstep.benchmarks;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * What to measure.
 *
 * @param engines on which engines
 * @param workloads which of them
 * @param names parts of the names of the peers that take part; none means all
 * @param plan for how long
 * @param quick whether this is a first look
 * @param root the project
 * @param json where results go
 */
record Options(
        List<Engine> engines,
        List<Workload> workloads,
        List<String> names,
        Plan plan,
        boolean quick,
        Path root,
        Path json) {

    static Options parse(List<String> words) {
        List<Engine> engines = new ArrayList<>();
        List<Workload> workloads = new ArrayList<>();
        List<String> names = new ArrayList<>();
        Plan plan = Plan.FULL;
        boolean quick = false;
        Path root = Path.of("").toAbsolutePath();
        Path json = root.resolve("testing/benchmarks/target/benchmarks/results.json");
        for (int i = 0; i < words.size(); i++) {
            String word = words.get(i);
            if (word.equals("--quick")) {
                quick = true;
                plan = Plan.QUICK;
                continue;
            }
            String value = i + 1 < words.size() ? words.get(++i) : "";
            switch (word) {
                case "--engine" -> engines.addAll(engines(value));
                case "--workload" -> workloads.addAll(workloads(value));
                case "--peer" -> names.addAll(peers(value));
                case "--windows" -> plan = plan.withWindows((int) positive(word, value));
                case "--seconds" -> plan = plan.withSeconds(positive(word, value));
                case "--json" -> json = root.resolve(value);
                default -> throw new IllegalArgumentException("Unknown option " + word + "; see --help");
            }
        }
        return new Options(
                engines.isEmpty() ? List.of(Engine.values()) : engines,
                workloads.isEmpty() ? List.of(Workload.values()) : workloads,
                names,
                plan,
                quick,
                root,
                json);
    }

    private static List<String> split(String value) {
        return Arrays.stream(value.split(",")).filter(part -> !part.isBlank()).toList();
    }

    private static List<Engine> engines(String value) {
        return split(value).stream()
                .map(id -> Engine.of(id)
                        .orElseThrow(() -> new IllegalArgumentException("No engine " + id + "; there are "
                                + Arrays.stream(Engine.values()).map(Engine::id).toList() + " and core")))
                .toList();
    }

    private static List<Workload> workloads(String value) {
        List<Workload> found = Arrays.stream(Workload.values())
                .filter(workload -> split(value).stream().anyMatch(workload::isMeantBy))
                .toList();
        if (found.isEmpty()) {
            throw new IllegalArgumentException("No workload " + value + "; there are W1 to W9");
        }
        return found;
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

    private static double positive(String option, String value) {
        double number;
        try {
            number = Double.parseDouble(value);
        } catch (NumberFormatException e) {
            number = 0;
        }
        if (number <= 0) {
            throw new IllegalArgumentException(option + " needs a number above 0, not '" + value + "'; see --help");
        }
        return number;
    }

    boolean wants(Entrant entrant) {
        return names.isEmpty()
                || entrant.kind() != Entrant.Kind.PEER
                || names.stream().anyMatch(entrant.name().toLowerCase(Locale.ROOT)::contains);
    }

    /** A first look, or one with peers left out, does not change the page. */
    boolean isForThePage() {
        return !quick && names.isEmpty();
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
