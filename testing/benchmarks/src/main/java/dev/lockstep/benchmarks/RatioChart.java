package dev.lockstep.benchmarks;

import java.util.List;
import java.util.Locale;
import java.util.Map;

/** All engines in one picture: a bar for each workload shows how many times better Lockstep is than the best peer. */
final class RatioChart {
    private static final int NAMES = 150;
    private static final int BARS = 480;
    private static final int FIGURES = 80;
    private static final int ROW = 17;
    private static final int TITLE = 24;
    private static final int TOP = 48;
    private static final double LEAST = 0.5;

    private final List<Results> all;
    private final double most;
    private final StringBuilder svg = new StringBuilder();

    private RatioChart(List<Results> all) {
        this.all = all.stream()
                .filter(results -> !Tables.ratios(results).isEmpty())
                .toList();
        most = this.all.stream()
                .flatMap(results -> Tables.ratios(results).values().stream())
                .mapToDouble(Double::doubleValue)
                .max()
                .orElse(10);
    }

    /** Draws it, as SVG. */
    static String of(List<Results> all) {
        return new RatioChart(all).draw();
    }

    private String draw() {
        int rows =
                all.stream().mapToInt(results -> Tables.ratios(results).size()).sum();
        int width = NAMES + BARS + FIGURES;
        int height = TOP + TITLE * all.size() + ROW * rows + 12;
        add(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\""
                        + " font-family=\"sans-serif\" font-size=\"12\">",
                width, height, width, height);
        add("<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>", width, height);
        add("<text x=\"10\" y=\"18\" font-size=\"14\" font-weight=\"bold\" fill=\"#222222\">"
                + "Lockstep, times the best peer</text>");
        add("<text x=\"10\" y=\"35\" fill=\"#666666\">more is better; logarithmic; the line is 1: equal</text>");
        int y = TOP;
        for (Results results : all) {
            add(
                    "<text x=\"10\" y=\"%d\" font-weight=\"bold\" fill=\"#222222\">%s</text>",
                    y + TITLE - 7, results.kind().title);
            y += TITLE;
            for (Map.Entry<Workload, Double> ratio : Tables.ratios(results).entrySet()) {
                bar(ratio.getKey(), ratio.getValue(), y);
                y += ROW;
            }
        }
        double one = NAMES + length(1);
        add("<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke=\"#222222\"/>", one, TOP, one, y);
        return svg.append("</svg>\n").toString();
    }

    private void bar(Workload workload, double ratio, int y) {
        double one = length(1);
        double end = length(ratio);
        add("<text x=\"%d\" y=\"%d\" text-anchor=\"end\" fill=\"#222222\">%s</text>", NAMES - 8, y + 12, workload);
        add(
                "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>",
                NAMES + Math.min(one, end),
                y + 2,
                Math.max(1, Math.abs(end - one)),
                ROW - 4,
                ratio >= 1 ? "#2b6cb0" : "#c05621");
        add(
                "<text x=\"%.1f\" y=\"%d\" fill=\"#222222\">%s×</text>",
                NAMES + Math.max(one, end) + 6, y + 12, Measure.human(ratio));
    }

    private double length(double ratio) {
        double least = Math.log(LEAST);
        return BARS * Math.max(0, (Math.log(ratio) - least) / (Math.log(most) - least));
    }

    private void add(String format, Object... values) {
        svg.append(String.format(Locale.ROOT, format, values)).append('\n');
    }
}
