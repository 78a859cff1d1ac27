package dev.lockstep.benchmarks;

import dev.lockstep.benchmarks.Results.Sheet;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The page about what was measured, with its charts and what is computed from it, written from the results of all engines. */
final class Page {
    private Page() {}

    /**
     * Keeps results in a folder, replacing what was measured again, and writes the page beside that folder, all charts, and
     * the tables of the pages on scale, which are computed from these results.
     */
    static void refresh(Path docs, List<Results> measured) throws IOException {
        Path folder = Files.createDirectories(docs.resolve("benchmarks"));
        for (Results results : measured) {
            Path file = folder.resolve(results.engine() + ".json");
            Results merged = Results.read(file).map(results::over).orElse(results);
            merged.write(file);
        }
        List<Results> all = new ArrayList<>();
        for (Engine engine : Engine.values()) {
            Results.read(folder.resolve(engine.id() + ".json")).ifPresent(all::add);
        }
        for (Results results : all) {
            charts(folder, results);
        }
        Results.write(folder.resolve("ratios.svg"), RatioChart.of(all));
        Results.write(docs.resolve("benchmarks.md"), of(all));
        if (Files.exists(docs.resolve(Scale.Language.ENGLISH.page))) {
            Scale.refresh(docs);
        }
    }

    /** Draws a chart for each workload. */
    static void charts(Path folder, Results results) throws IOException {
        for (Sheet sheet : results.sheets()) {
            Files.writeString(folder.resolve(chart(results, sheet)), Chart.of(sheet));
        }
    }

    private static String chart(Results results, Sheet sheet) {
        return results.engine() + "-" + sheet.workload().toLowerCase(Locale.ROOT) + ".svg";
    }

    private static String of(List<Results> all) throws IOException {
        StringBuilder text = new StringBuilder(resource("head.md"));
        text.append('\n').append(Tables.ratios(all)).append("\n![Ratios](benchmarks/ratios.svg)\n\n");
        text.append(resource("reading.md"))
                .append("\n## How it is measured\n\n")
                .append(resource("method.md"));
        text.append("\n## All engines\n\n")
                .append(resource("engines.md"))
                .append('\n')
                .append(Tables.engines(all));
        text.append("\n## Goals\n\n").append(resource("goals.md")).append('\n');
        for (Results results : all) {
            List<Goal.Outcome> outcomes = Goal.outcomes(results);
            if (!outcomes.isEmpty()) {
                text.append("\n### Goals on ")
                        .append(results.kind().title)
                        .append("\n\n")
                        .append(Tables.goals(outcomes));
            }
        }
        for (Results results : all) {
            text.append("\n## ").append(results.kind().title).append("\n\n");
            text.append(conditions(results)).append(".\n");
            for (Sheet sheet : results.sheets()) {
                text.append("\n**")
                        .append(sheet.workload())
                        .append("**: ")
                        .append(sheet.kind().title)
                        .append(" (")
                        .append(sheet.plan())
                        .append(", ")
                        .append(sheet.measured())
                        .append(", load before ")
                        .append(sheet.conditions().load())
                        .append(")\n\n");
                text.append("![")
                        .append(sheet.workload())
                        .append(" on ")
                        .append(results.kind().title)
                        .append("](benchmarks/")
                        .append(chart(results, sheet))
                        .append(")\n\n");
                text.append(Tables.of(sheet));
            }
        }
        return text.toString();
    }

    /** Where an engine's sheets were measured; several, if they differ. */
    static String conditions(Results results) {
        return Stream.of(
                        results.sheets().stream()
                                .map(sheet -> sheet.conditions().machineText()),
                        results.sheets().stream()
                                .map(sheet -> sheet.conditions().serverText()))
                .map(texts -> texts.distinct().filter(text -> !text.isEmpty()).collect(Collectors.joining("; or ")))
                .filter(text -> !text.isEmpty())
                .collect(Collectors.joining(". Server: "));
    }

    static String list(Map<String, String> values) {
        return values.entrySet().stream()
                .map(value -> value.getKey() + " " + value.getValue())
                .collect(Collectors.joining(", "));
    }

    private static String resource(String name) throws IOException {
        try (InputStream in = Page.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IOException("missing resource " + name);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
