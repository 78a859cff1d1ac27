package dev.lockstep.benchmarks;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/**
 * Which curves to measure.
 *
 * @param engines on which engines
 * @param curves which of them
 * @param most where curves end, if not earlier
 * @param millis how long a window is
 * @param root the project
 */
record GrowthOptions(List<Engine> engines, List<Curve> curves, int most, int millis, Path root) {
    private static final Set<String> KNOWN = Set.of("--engine", "--curve", "--most", "--seconds");
    private static final int MILLIS = 3000;

    static GrowthOptions parse(List<String> words, Path root) {
        List<Engine> engines = new ArrayList<>();
        List<Curve> curves = new ArrayList<>();
        int most = Integer.MAX_VALUE;
        int millis = MILLIS;
        for (int i = 0; i < words.size(); i++) {
            String word = words.get(i);
            if (!KNOWN.contains(word)) {
                throw new IllegalArgumentException("Unknown option " + word + "; see --help");
            }
            String value = Options.value(word, words, ++i);
            switch (word) {
                case "--engine" -> engines.addAll(Options.engines(value));
                case "--curve" -> Options.split(value).forEach(id -> curves.add(curve(id)));
                case "--most" -> most = Options.whole(word, value);
                default -> millis = (int) (Options.positive(word, value) * 1000);
            }
        }
        return new GrowthOptions(
                engines.isEmpty() ? List.of(Engine.values()) : engines,
                curves.isEmpty() ? List.of(Curve.values()) : curves,
                most,
                millis,
                root);
    }

    private static Curve curve(String id) {
        return Curve.of(id)
                .orElseThrow(() -> new IllegalArgumentException("No curve " + id + "; there are "
                        + Arrays.stream(Curve.values()).map(Curve::id).toList()));
    }

    Path output() {
        return root.resolve("testing/benchmarks/target/benchmarks");
    }

    Path peers() {
        return root.resolve("testing/benchmarks/peers");
    }

    Path picture(Engine engine, Curve curve) {
        return output().resolve("growth-" + engine.id() + "-" + curve.id() + ".svg");
    }

    Path json(Engine engine, Curve curve) {
        Path file = output().resolve("growth-" + engine.id() + "-" + curve.id() + ".json");
        if (Files.isDirectory(file)) {
            throw new IllegalArgumentException(file + " is a folder");
        }
        return file;
    }
}
