package dev.lockstep.benchmarks;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The results of one engine.
 *
 * @param engine its id
 * @param sheets by workload
 */
record Results(String engine, List<Sheet> sheets) {
    private static final Gson GSON = new GsonBuilder().setPrettyPrinting().create();

    /**
     * One workload. All its cells were measured in turn in one run.
     *
     * @param workload its id
     * @param plan how many windows of which length
     * @param measured when
     * @param conditions where, and on which server
     * @param cells one for each contender
     */
    record Sheet(String workload, String plan, String measured, Conditions conditions, List<Cell> cells) {
        Optional<Cell> cell(String name) {
            return cells.stream().filter(cell -> cell.name().equals(name)).findFirst();
        }

        Workload kind() {
            return Workload.valueOf(workload);
        }

        /** How many times better one is than another, window by window; nothing if one of them is missing. */
        Optional<Spread> advantage(String mine, String other) {
            Measure figure = kind().figure;
            List<Double> own = cell(mine).map(cell -> cell.all(figure)).orElse(List.of());
            List<Double> others = cell(other).map(cell -> cell.all(figure)).orElse(List.of());
            List<Double> advantages = IntStream.range(0, Math.min(own.size(), others.size()))
                    .mapToObj(i -> figure.advantage(own.get(i), others.get(i)))
                    .filter(Double::isFinite) // who did nothing at all cannot be compared
                    .toList();
            return advantages.isEmpty() ? Optional.empty() : Optional.of(Spread.of(advantages));
        }

        /** The peer with the best median. */
        Optional<Cell> bestPeer() {
            Measure figure = kind().figure;
            return cells.stream()
                    .filter(cell -> cell.kind() == Entrant.Kind.PEER
                            && !cell.all(figure).isEmpty())
                    .max((a, b) -> {
                        int order = Double.compare(
                                a.spread(figure).median(), b.spread(figure).median());
                        return figure.moreIsBetter ? order : -order;
                    });
        }
    }

    /**
     * One contender in one workload.
     *
     * @param name the contender
     * @param kind what it is compared as
     * @param version of its library, or nothing
     * @param windows each with values by name
     */
    record Cell(String name, Entrant.Kind kind, String version, List<Map<String, Double>> windows) {
        List<Double> all(Measure measure) {
            return windows.stream()
                    .map(window -> window.getOrDefault(measure.key, Double.NaN))
                    .filter(value -> !value.isNaN())
                    .toList();
        }

        Spread spread(Measure measure) {
            List<Double> values = all(measure);
            return values.isEmpty() ? new Spread(Double.NaN, Double.NaN, Double.NaN) : Spread.of(values);
        }

        double lost() {
            return all(Measure.LOST).stream().mapToDouble(Double::doubleValue).sum();
        }
    }

    Optional<Sheet> sheet(Workload workload) {
        return sheets.stream().filter(sheet -> sheet.kind() == workload).findFirst();
    }

    Engine kind() {
        return Engine.of(engine).orElseThrow();
    }

    /** These, and of the older ones what was not measured again. */
    Results over(Results older) {
        List<Sheet> merged = new ArrayList<>();
        for (Workload workload : Workload.values()) {
            sheet(workload).or(() -> older.sheet(workload)).ifPresent(merged::add);
        }
        return new Results(engine, merged);
    }

    static Optional<Results> read(Path file) throws IOException {
        return Files.exists(file)
                ? Optional.of(GSON.fromJson(Files.readString(file), Results.class))
                : Optional.empty();
    }

    /** Reads a file with the results of one engine, as beside the page, or of several, as a run writes it. */
    static List<Results> all(Path file) throws IOException {
        String text = Files.readString(file);
        return text.stripLeading().startsWith("[")
                ? List.of(GSON.fromJson(text, Results[].class))
                : List.of(GSON.fromJson(text, Results.class));
    }

    static String json(List<Results> all) {
        return GSON.toJson(all) + "\n";
    }

    void write(Path file) throws IOException {
        write(file, GSON.toJson(this) + "\n");
    }

    /** Writes a file as a whole or not at all. */
    static void write(Path file, String text) throws IOException {
        Path part = file.resolveSibling(file.getFileName() + ".part");
        Files.writeString(part, text);
        Files.move(part, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    }
}
