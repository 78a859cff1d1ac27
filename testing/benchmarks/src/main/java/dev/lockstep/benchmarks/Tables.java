package dev.lockstep.benchmarks;

import dev.lockstep.benchmarks.Results.Cell;
import dev.lockstep.benchmarks.Results.Sheet;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Tables in Markdown, with columns that are also straight on a terminal. */
final class Tables {
    private Tables() {}

    /** One workload: the result of each contender, and how many times better Lockstep is. */
    static String of(Sheet sheet) {
        Workload workload = sheet.kind();
        List<List<String>> rows = new ArrayList<>();
        List<String> head = new ArrayList<>(List.of("", workload.figure.title, "from … to"));
        workload.more.forEach(measure -> head.add(measure.title));
        head.add("Lockstep is");
        rows.add(head);
        for (Cell cell : sheet.cells()) {
            rows.add(row(sheet, cell));
        }
        return grid(rows);
    }

    private static List<String> row(Sheet sheet, Cell cell) {
        Workload workload = sheet.kind();
        List<String> row = new ArrayList<>();
        row.add((cell.name() + " " + cell.version()).strip());
        if (cell.windows().isEmpty()) {
            row.add("failed");
            row.addAll(Collections.nCopies(workload.more.size() + 2, ""));
            return row;
        }
        Spread figure = cell.spread(workload.figure);
        row.add(Measure.human(figure.median()));
        row.add(Double.isNaN(figure.median()) ? "" : Measure.human(figure.min()) + " … " + Measure.human(figure.max()));
        workload.more.forEach(
                measure -> row.add(Measure.human(cell.spread(measure).median())));
        if (cell.lost() > 0) {
            row.add("NOT EXCLUSIVE: " + Measure.human(cell.lost()) + " lost updates");
        } else if (cell.name().equals(Entrant.LOCKSTEP)) {
            row.add("");
        } else {
            row.add(sheet.advantage(Entrant.LOCKSTEP, cell.name())
                    .map(Tables::times)
                    .orElse(""));
        }
        return row;
    }

    private static String times(Spread advantage) {
        return Measure.human(advantage.median()) + "× (" + Measure.human(advantage.min()) + " … "
                + Measure.human(advantage.max()) + ")";
    }

    /** The goals of an engine. */
    static String goals(List<Goal.Outcome> outcomes) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("", "goal", "wanted", "measured", ""));
        for (Goal.Outcome outcome : outcomes) {
            rows.add(List.of(
                    outcome.goal().workload().name(),
                    outcome.goal().text(),
                    (outcome.goal().atLeast() ? "at least " : "at most ")
                            + Measure.human(outcome.goal().limit()),
                    Measure.human(outcome.actual()),
                    outcome.met() ? "met" : "**missed**"));
        }
        return grid(rows);
    }

    /** Lockstep alone, on all engines. */
    static String engines(List<Results> all) {
        List<List<String>> rows = new ArrayList<>();
        List<String> head = new ArrayList<>(List.of(""));
        all.forEach(results -> head.add(results.kind().title));
        rows.add(head);
        for (Workload workload : Workload.values()) {
            List<String> row = new ArrayList<>(List.of(workload + " " + workload.figure.title));
            for (Results results : all) {
                row.add(results.sheet(workload)
                        .flatMap(sheet -> sheet.cell(Entrant.LOCKSTEP))
                        .map(cell -> Measure.human(cell.spread(workload.figure).median()))
                        .orElse(""));
            }
            if (row.stream().skip(1).anyMatch(figure -> !figure.isEmpty())) {
                rows.add(row);
            }
        }
        return grid(rows);
    }

    /** How many times better Lockstep is than the best peer, on all engines that have one. */
    static String ratios(List<Results> all) {
        List<Results> compared =
                all.stream().filter(results -> !ratios(results).isEmpty()).toList();
        List<List<String>> rows = new ArrayList<>();
        List<String> head = new ArrayList<>(List.of("Lockstep is … times the best peer"));
        compared.forEach(results -> head.add(results.kind().title));
        rows.add(head);
        for (Workload workload : Workload.values()) {
            List<String> row = new ArrayList<>(List.of(workload + " " + workload.title));
            for (Results results : compared) {
                Double ratio = ratios(results).get(workload);
                row.add(ratio == null ? "" : Measure.human(ratio) + "×");
            }
            if (row.stream().skip(1).anyMatch(cell -> !cell.isEmpty())) {
                rows.add(row);
            }
        }
        return grid(rows);
    }

    /** The medians of the ratios to the best peer of each workload. W7 has none: its figures cannot be divided. */
    static Map<Workload, Double> ratios(Results results) {
        Map<Workload, Double> ratios = new EnumMap<>(Workload.class);
        for (Sheet sheet : results.sheets()) {
            if (sheet.kind() != Workload.W7) {
                sheet.bestPeer()
                        .flatMap(peer -> sheet.advantage(Entrant.LOCKSTEP, peer.name()))
                        .ifPresent(ratio -> ratios.put(sheet.kind(), ratio.median()));
            }
        }
        return ratios;
    }

    /** A table; the first row is its head. All columns except the first are aligned to the right. */
    static String grid(List<List<String>> rows) {
        int columns = rows.get(0).size();
        int[] widths = new int[columns];
        for (List<String> row : rows) {
            for (int i = 0; i < columns; i++) {
                widths[i] = Math.max(Math.max(3, widths[i]), row.get(i).length());
            }
        }
        StringBuilder text = new StringBuilder(line(rows.get(0), widths));
        text.append('|');
        for (int i = 0; i < columns; i++) {
            text.append("-".repeat(widths[i] + 1)).append(i == 0 ? "-|" : ":|");
        }
        text.append('\n');
        rows.stream().skip(1).forEach(row -> text.append(line(row, widths)));
        return text.toString();
    }

    private static String line(List<String> row, int[] widths) {
        StringBuilder text = new StringBuilder("|");
        for (int i = 0; i < widths.length; i++) {
            text.append(String.format(
                    Locale.ROOT, i == 0 ? " %-" + widths[i] + "s |" : " %" + widths[i] + "s |", row.get(i)));
        }
        return text.append('\n').toString();
    }
}
