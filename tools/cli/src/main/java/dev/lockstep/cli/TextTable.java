package dev.lockstep.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Rows of text in columns, for people. Control characters are shown as question marks: they could redraw a terminal. */
final class TextTable {
    private final List<List<String>> rows = new ArrayList<>();

    /** Makes a table, without headings if none are given. */
    TextTable(String... headings) {
        if (headings.length > 0) {
            rows.add(List.of(headings));
        }
    }

    void add(Object... cells) {
        rows.add(Arrays.stream(cells)
                .map(cell -> cell.toString().replaceAll("\\p{Cntrl}", "?"))
                .toList());
    }

    void print(PrintWriter out) {
        lines().forEach(out::println);
    }

    /** The rows as lines, aligned. */
    List<String> lines() {
        int columns = rows.isEmpty() ? 0 : rows.get(0).size();
        int[] widths = new int[columns];
        for (List<String> row : rows) {
            for (int i = 0; i < columns; i++) {
                widths[i] = Math.max(widths[i], length(row.get(i)));
            }
        }
        List<String> lines = new ArrayList<>();
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < columns; i++) {
                line.append(row.get(i)).append(" ".repeat(widths[i] - length(row.get(i)) + 2));
            }
            lines.add(line.toString().stripTrailing());
        }
        return lines;
    }

    private static int length(String cell) {
        return cell.codePointCount(0, cell.length());
    }
}
