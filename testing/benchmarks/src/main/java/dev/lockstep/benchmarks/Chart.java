package dev.lockstep.benchmarks;

import dev.lockstep.benchmarks.Results.Cell;
import dev.lockstep.benchmarks.Results.Sheet;
import java.util.List;
import java.util.Locale;

/** A workload as a picture: a bar for the median of each contender, and a line from its least to its most. */
final class Chart {
    private static final int NAMES = 230;
    private static final int BARS = 420;
    private static final int FIGURES = 90;
    private static final int ROW = 26;
    private static final int TOP = 44;

    /** Beyond this bars are by the logarithm, since the short ones could not be seen. */
    private static final double LINEAR = 40;

    private final Sheet sheet;
    private final Measure figure;
    private final List<Cell> cells;
    private final double least;
    private final double most;

    private Chart(Sheet sheet) {
        this.sheet = sheet;
        figure = sheet.kind().figure;
        cells = sheet.cells().stream()
                .filter(cell -> !cell.all(figure).isEmpty() && !cell.name().startsWith("Reentrant"))
                .toList();
        most = cells.stream()
                .mapToDouble(cell -> cell.spread(figure).max())
                .max()
                .orElse(1);
        least = cells.stream()
                .mapToDouble(cell -> cell.spread(figure).min())
                .filter(value -> value > 0)
                .min()
                .orElse(1);
    }

    /** Draws it, as SVG. */
    static String of(Sheet sheet) {
        return new Chart(sheet).draw();
    }

    private String draw() {
        int width = NAMES + BARS + FIGURES;
        int height = TOP + ROW * cells.size() + 10;
        StringBuilder svg = new StringBuilder();
        add(
                svg,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\""
                        + " font-family=\"sans-serif\" font-size=\"13\">",
                width,
                height,
                width,
                height);
        add(svg, "<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>", width, height);
        add(
                svg,
                "<text x=\"10\" y=\"18\" font-weight=\"bold\" fill=\"#222222\">%s: %s</text>",
                sheet.workload(),
                text(sheet.kind().title));
        add(
                svg,
                "<text x=\"10\" y=\"35\" font-size=\"11\" fill=\"#666666\">%s, %s is better%s</text>",
                text(figure.title),
                figure.moreIsBetter ? "more" : "less",
                logarithmic() ? "; logarithmic" : "");
        for (int i = 0; i < cells.size(); i++) {
            bar(svg, cells.get(i), TOP + i * ROW);
        }
        return svg.append("</svg>\n").toString();
    }

    private void bar(StringBuilder svg, Cell cell, int y) {
        Spread spread = cell.spread(figure);
        int middle = y + ROW / 2;
        add(
                svg,
                "<text x=\"%d\" y=\"%d\" text-anchor=\"end\" fill=\"#222222\">%s</text>",
                NAMES - 8,
                middle + 4,
                text(cell.name()));
        add(
                svg,
                "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>",
                NAMES,
                y + 4,
                length(spread.median()),
                ROW - 8,
                colour(cell));
        add(
                svg,
                "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke=\"#333333\"/>",
                NAMES + length(spread.min()),
                middle,
                NAMES + length(spread.max()),
                middle);
        add(
                svg,
                "<text x=\"%.1f\" y=\"%d\" fill=\"#222222\">%s</text>",
                NAMES + length(spread.max()) + 6,
                middle + 4,
                Measure.human(spread.median()));
    }

    private boolean logarithmic() {
        return most / least > LINEAR;
    }

    private double length(double value) {
        if (value <= 0) {
            return 0;
        }
        double part = logarithmic() ? (1 + Math.log(value / least)) / (1 + Math.log(most / least)) : value / most;
        return Math.max(1, part * BARS);
    }

    private static String colour(Cell cell) {
        return switch (cell.kind()) {
            case LOCKSTEP -> "#2a6fbb";
            case YARDSTICK -> "#bbbbbb";
            case PEER -> "#e0913a";
        };
    }

    private static void add(StringBuilder svg, String format, Object... values) {
        svg.append(String.format(Locale.ROOT, format, values)).append('\n');
    }

    private static String text(String plain) {
        return plain.replace("&", "&amp;").replace("<", "&lt;");
    }
}
