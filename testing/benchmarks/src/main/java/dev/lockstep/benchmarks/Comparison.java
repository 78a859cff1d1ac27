package dev.lockstep.benchmarks;

import dev.lockstep.benchmarks.Results.Cell;
import dev.lockstep.benchmarks.Results.Sheet;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Two result files side by side: the medians of what was measured in both, and which of them became worse.
 *
 * @param text a table for each engine
 * @param worse whether Lockstep became worse anywhere
 */
record Comparison(String text, boolean worse) {
    /** A result that is less than this times as good is worse. */
    private static final double LEAST = 0.95;

    /**
     * Compares two files.
     *
     * @param words the file from before, and the one from after
     * @param folder where relative paths start
     * @throws IllegalArgumentException if they are not two files, or have nothing in common
     */
    static Comparison of(List<String> words, Path folder) throws IOException {
        if (words.size() != 2) {
            throw new IllegalArgumentException("compare needs two files with results; see --help");
        }
        List<Path> files = words.stream().map(folder::resolve).toList();
        for (Path file : files) {
            if (!Files.isRegularFile(file)) {
                throw new IllegalArgumentException("No file " + file);
            }
        }
        return of(Results.all(files.get(0)), Results.all(files.get(1)));
    }

    static Comparison of(List<Results> before, List<Results> after) {
        StringBuilder text = new StringBuilder();
        boolean worse = false;
        for (Results old : before) {
            List<Row> rows = after.stream()
                    .filter(results -> results.engine().equals(old.engine()))
                    .flatMap(results -> rows(old, results).stream())
                    .toList();
            if (!rows.isEmpty()) {
                text.append(old.kind().title).append("\n\n").append(table(rows)).append('\n');
                worse |= rows.stream().anyMatch(row -> row.isWorse() && row.after.kind() == Entrant.Kind.LOCKSTEP);
            }
        }
        if (text.isEmpty()) {
            throw new IllegalArgumentException("The files have no engine, workload and contender in common");
        }
        return new Comparison(text.toString(), worse);
    }

    /** One contender in one workload. */
    private record Row(Workload workload, Cell before, Cell after) {
        double median(Cell cell) {
            return cell.spread(workload.figure).median();
        }

        double ratio() {
            return workload.figure.advantage(median(after), median(before));
        }

        boolean isWorse() {
            return ratio() < LEAST;
        }

        List<String> cells() {
            return List.of(
                    workload.name(),
                    after.name(),
                    workload.figure.title,
                    Measure.human(median(before)),
                    Measure.human(median(after)),
                    Double.isFinite(ratio()) ? Measure.human(ratio()) + "×" : "",
                    isWorse() ? "**worse**" : "");
        }
    }

    private static List<Row> rows(Results before, Results after) {
        List<Row> rows = new ArrayList<>();
        for (Sheet sheet : after.sheets()) {
            Workload workload = sheet.kind();
            for (Cell cell : sheet.cells()) {
                before.sheet(workload)
                        .flatMap(old -> old.cell(cell.name()))
                        .map(old -> new Row(workload, old, cell))
                        .filter(row -> !Double.isNaN(row.median(row.before) + row.median(row.after)))
                        .ifPresent(rows::add);
            }
        }
        return rows;
    }

    private static String table(List<Row> rows) {
        List<List<String>> lines = new ArrayList<>();
        lines.add(List.of("", "contender", "", "before", "after", "times as good", ""));
        rows.forEach(row -> lines.add(row.cells()));
        return Tables.grid(lines);
    }
}
