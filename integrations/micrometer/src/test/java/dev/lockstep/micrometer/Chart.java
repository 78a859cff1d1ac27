package dev.lockstep.micrometer;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Draws the answer of Prometheus to a question about a range of time. */
final class Chart {
    private static final Pattern SERIES =
            Pattern.compile("\\{\"metric\":\\{(.*?)},\"values\":\\[(\\[.*?\\])\\]}", Pattern.DOTALL);
    private static final Pattern POINT = Pattern.compile("\\[([0-9.]+),\"([^\"]+)\"]");
    private static final Pattern VALUE = Pattern.compile(":\"([^\"]*)\"");
    private static final int WIDTH = 720;
    private static final int HEIGHT = 240;
    private static final int LEFT = 56;
    private static final int BOTTOM = 200;
    private static final int TOP = 40;
    private static final int RIGHT = 560;
    private static final String[] COLOURS = {"#4078c0", "#d9730d", "#2da44e", "#bf3989", "#8250df", "#9a6700"};

    private Chart() {}

    /** The points of each series, by the values of its labels. */
    static Map<String, List<double[]>> series(String json) {
        Map<String, List<double[]>> found = new TreeMap<>();
        Matcher series = SERIES.matcher(json);
        while (series.find()) {
            List<String> labels = new ArrayList<>();
            VALUE.matcher(series.group(1)).results().forEach(value -> labels.add(value.group(1)));
            List<double[]> points = new ArrayList<>();
            Matcher point = POINT.matcher(series.group(2));
            while (point.find()) {
                points.add(new double[] {Double.parseDouble(point.group(1)), Double.parseDouble(point.group(2))});
            }
            found.put(String.join(" ", labels), points);
        }
        return found;
    }

    static String svg(String title, long first, long last, Map<String, List<double[]>> series) {
        double most = 0;
        for (List<double[]> points : series.values()) {
            for (double[] point : points) {
                most = Double.isNaN(point[1]) ? most : Math.max(most, point[1]);
            }
        }
        most = most == 0 ? 1 : most * 1.1;
        StringBuilder svg = new StringBuilder(format(
                "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' width='%d' height='%d' role='img'>%n",
                WIDTH, HEIGHT, WIDTH, HEIGHT));
        svg.append("""
                <style>
                .p{fill:#fff;stroke:#d0d7de}.g{stroke:#d0d7de}text{font:13px system-ui,sans-serif;fill:#1f2328}.t{font-weight:600}
                @media (prefers-color-scheme:dark){.p{fill:#161b22;stroke:#3d444d}.g{stroke:#3d444d}text{fill:#e6edf3}}
                </style>
                """);
        svg.append(format("<rect class='p' x='0.5' y='0.5' width='%d' height='%d' rx='8'/>%n", WIDTH - 1, HEIGHT - 1));
        svg.append(format("<text class='t' x='16' y='24'>%s</text>%n", title));
        for (int i = 0; i <= 2; i++) {
            int y = BOTTOM - i * (BOTTOM - TOP) / 2;
            svg.append(format("<line class='g' x1='%d' y1='%d' x2='%d' y2='%d'/>%n", LEFT, y, RIGHT, y));
            svg.append(format("<text x='8' y='%d'>%.3g</text>%n", y + 4, most * i / 2));
        }
        svg.append(format("<text x='%d' y='%d'>0 s</text>%n", LEFT, BOTTOM + 20));
        svg.append(format("<text x='%d' y='%d'>%d s</text>%n", RIGHT - 20, BOTTOM + 20, last - first));
        int index = 0;
        for (Map.Entry<String, List<double[]>> each : series.entrySet()) {
            StringBuilder line = new StringBuilder();
            for (double[] point : each.getValue()) {
                if (!Double.isNaN(point[1])) {
                    double x = LEFT + (RIGHT - LEFT) * (point[0] - first) / Math.max(1, last - first);
                    line.append(format("%.1f,%.1f ", x, BOTTOM - (BOTTOM - TOP) * point[1] / most));
                }
            }
            String colour = COLOURS[index % COLOURS.length];
            svg.append(format(
                    "<polyline fill='none' stroke='%s' stroke-width='2' points='%s'/>%n",
                    colour, line.toString().strip()));
            svg.append(format(
                    "<rect x='%d' y='%d' width='12' height='12' fill='%s'/><text x='%d' y='%d'>%s</text>%n",
                    RIGHT + 12, TOP + 22 * index, colour, RIGHT + 30, TOP + 11 + 22 * index, each.getKey()));
            index++;
        }
        return svg.append("</svg>\n").toString();
    }

    private static String format(String pattern, Object... values) {
        return String.format(Locale.ROOT, pattern, values);
    }
}
