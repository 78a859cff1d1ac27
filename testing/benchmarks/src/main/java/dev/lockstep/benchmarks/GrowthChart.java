package dev.lockstep.benchmarks;

import dev.lockstep.benchmarks.Growth.Line;
import dev.lockstep.benchmarks.Growth.Point;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** A curve as a picture, with a line for each contender, and as a table. */
final class GrowthChart {
    private static final int WIDTH = 640;
    private static final int HEIGHT = 320;
    private static final int LEFT = 70;
    private static final int RIGHT = 20;
    private static final int TOP = 60;
    private static final int BOTTOM = 40;
    private static final List<String> COLOURS = List.of("#2b6cb0", "#c05621");

    private GrowthChart() {}

    /** The figures, a row for each point. */
    static String table(Curve curve, List<Line> lines) {
        List<List<String>> rows = new ArrayList<>();
        List<String> head = new ArrayList<>(List.of("n"));
        lines.forEach(line -> head.add(line.contender() + ", " + curve.figure.title));
        rows.add(head);
        int points = lines.stream().mapToInt(line -> line.points().size()).min().orElse(0);
        for (int i = 0; i < points; i++) {
            List<String> row = new ArrayList<>(List.of(String.format(
                    Locale.ROOT, "%,d", lines.get(0).points().get(i).n())));
            for (Line line : lines) {
                row.add(Measure.human(value(curve, line.points().get(i))));
            }
            rows.add(row);
        }
        return Tables.grid(rows);
    }

    /**
     * The goal of Lockstep, and the points that missed it; empty if there is no goal, or it was not measured at every
     * point.
     */
    static String goal(Engine engine, Curve curve, Line line) {
        Curve.Limit limit = curve.limit(engine).orElse(null);
        boolean reached = limit != null
                && line.points().stream().anyMatch(point -> point.n() >= limit.upTo())
                && line.points().stream().noneMatch(point -> Double.isNaN(value(curve, point)));
        if (limit == null || !reached) {
            return "";
        }
        String missed = line.points().stream()
                .filter(point -> point.n() <= limit.upTo())
                .filter(point -> curve.figure.advantage(value(curve, point), limit.value()) < 1)
                .map(point -> String.format(Locale.ROOT, "%,d", point.n()))
                .collect(Collectors.joining(", "));
        return String.format(
                Locale.ROOT,
                "Goal: %s %s %s up to %,d: %s\n",
                curve.figure.moreIsBetter ? "at least" : "at most",
                Measure.human(limit.value()),
                curve.figure.title,
                limit.upTo(),
                missed.isEmpty() ? "met" : "missed at " + missed);
    }

    private static double value(Curve curve, Point point) {
        return point.values().getOrDefault(curve.figure.key, Double.NaN);
    }

    /** Draws it, as SVG. */
    static String of(Curve curve, List<Line> lines) {
        List<Point> all = lines.stream().flatMap(line -> line.points().stream()).toList();
        double most = all.stream()
                .mapToDouble(point -> value(curve, point))
                .filter(value -> !Double.isNaN(value))
                .max()
                .orElse(1);
        double first = all.stream().mapToInt(Point::n).min().orElse(1);
        double last = Math.max(all.stream().mapToInt(Point::n).max().orElse(10), first + 1);
        StringBuilder svg = new StringBuilder();
        add(
                svg,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\""
                        + " font-family=\"sans-serif\" font-size=\"12\">",
                WIDTH,
                HEIGHT,
                WIDTH,
                HEIGHT);
        add(svg, "<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>", WIDTH, HEIGHT);
        text(svg, 10, 18, "start", "#222222", curve.title);
        text(svg, 10, 35, "start", "#666666", curve.figure.title + "; the lower axis is logarithmic");
        text(svg, LEFT - 6, TOP + 5, "end", "#222222", Measure.human(most));
        text(svg, LEFT - 6, HEIGHT - BOTTOM, "end", "#222222", "0");
        add(
                svg,
                "<path d=\"M %d %d V %d H %d\" fill=\"none\" stroke=\"#666666\"/>",
                LEFT,
                TOP,
                HEIGHT - BOTTOM,
                WIDTH - RIGHT);
        all.stream()
                .mapToInt(Point::n)
                .distinct()
                .forEach(n -> text(
                        svg,
                        x(n, first, last),
                        HEIGHT - BOTTOM + 18,
                        "middle",
                        "#222222",
                        String.format(Locale.ROOT, "%,d", n)));
        for (int i = 0; i < lines.size(); i++) {
            String colour = COLOURS.get(i % COLOURS.size());
            String path = lines.get(i).points().stream()
                    .filter(point -> !Double.isNaN(value(curve, point)))
                    .map(point -> String.format(
                            Locale.ROOT, "%.1f,%.1f", x(point.n(), first, last), y(value(curve, point), most)))
                    .collect(Collectors.joining(" "));
            add(svg, "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>", path, colour);
            text(svg, WIDTH - RIGHT, 18 + 17 * i, "end", colour, lines.get(i).contender());
        }
        return svg.append("</svg>\n").toString();
    }

    private static double x(double n, double first, double last) {
        return LEFT + 20 + (WIDTH - LEFT - RIGHT - 60) * Math.log(n / first) / Math.log(last / first);
    }

    private static double y(double value, double most) {
        return HEIGHT - BOTTOM - (most == 0 ? 0 : (HEIGHT - TOP - BOTTOM) * value / most);
    }

    private static void text(StringBuilder svg, double x, double y, String anchor, String colour, String words) {
        add(svg, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"%s\">%s</text>", x, y, anchor, colour, words);
    }

    private static void add(StringBuilder svg, String format, Object... values) {
        svg.append(String.format(Locale.ROOT, format, values)).append('\n');
    }
}
