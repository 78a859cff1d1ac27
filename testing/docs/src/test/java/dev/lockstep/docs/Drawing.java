package dev.lockstep.docs;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A sequence diagram, made from lines of text:
 *
 * <pre>
 * A = client A | 客户端 A          a column, left to right
 * A -> S: set | 写入              an arrow
 * S --> A: answer | 应答          a dashed one: an answer or an event
 * S: key = A | 键 = A             a note on a column: what is there now
 * == A crashes | A 崩溃           a line across
 * </pre>
 *
 * <p>After a bar comes the Chinese text, if it is another one. The picture brings its own background, and has colours for
 * light and dark, so it can be read on any page.
 */
final class Drawing {
    private static final Pattern COLUMN = Pattern.compile("(\\w+) = (.+)");
    private static final Pattern ARROW = Pattern.compile("(\\w+) (-->|->) (\\w+): (.+)");
    private static final Pattern NOTE = Pattern.compile("(\\w+): (.+)");
    private static final Pattern ACROSS = Pattern.compile("== (.+)");

    private static final int FIRST = 96;
    private static final int COLUMN_WIDTH = 228;
    private static final int HEAD = 64;
    private static final String STYLE = """
            <style>
            .p{fill:#fff;stroke:#d0d7de}.b{fill:#eaf2fd;stroke:#4078c0}.n{fill:#fff6d6;stroke:#b08800}
            .l{stroke:#8c959f;stroke-dasharray:2 4}.a{stroke:#24292f;stroke-width:1.5;fill:none}.h{fill:#24292f}
            text{font:14px system-ui,'Noto Sans CJK SC','PingFang SC','Microsoft YaHei',sans-serif;fill:#1f2328;text-anchor:middle}
            .m{font-family:ui-monospace,Menlo,Consolas,'Noto Sans CJK SC',monospace;font-size:13px}.s{font-weight:600}
            @media (prefers-color-scheme:dark){
            .p{fill:#161b22;stroke:#3d444d}.b{fill:#12283f;stroke:#5594e0}.n{fill:#332b00;stroke:#c9a227}
            .l{stroke:#6e7681}.a{stroke:#d1d7e0}.h{fill:#d1d7e0}text{fill:#e6edf3}}
            </style>
            """;

    private final int language;
    private final Map<String, Integer> columns = new LinkedHashMap<>();
    private final List<String> shapes = new ArrayList<>();
    private int y = HEAD;

    private Drawing(int language) {
        this.language = language;
    }

    /** Draws; in Chinese or in English. */
    static String svg(String text, boolean chinese) {
        Drawing drawing = new Drawing(chinese ? 1 : 0);
        text.lines().filter(line -> !line.isBlank()).forEach(drawing::add);
        return drawing.whole();
    }

    private void add(String line) {
        Matcher matcher = ACROSS.matcher(line);
        if (matcher.matches()) {
            across(words(matcher.group(1)));
        } else if ((matcher = ARROW.matcher(line)).matches()) {
            arrow(x(matcher.group(1)), x(matcher.group(3)), matcher.group(2).equals("-->"), words(matcher.group(4)));
        } else if ((matcher = NOTE.matcher(line)).matches()) {
            note(x(matcher.group(1)), words(matcher.group(2)));
        } else if ((matcher = COLUMN.matcher(line)).matches()) {
            columns.put(matcher.group(1), FIRST + COLUMN_WIDTH * columns.size());
            box("b", x(matcher.group(1)), 30, words(matcher.group(2)), "s");
        } else {
            throw new IllegalArgumentException("Not a line of a drawing: " + line);
        }
    }

    private String words(String both) {
        String[] words = both.split(" \\| ", 2);
        return words[Math.min(language, words.length - 1)].strip();
    }

    private int x(String column) {
        Integer x = columns.get(column);
        if (x == null) {
            throw new IllegalArgumentException("No column " + column);
        }
        return x;
    }

    private void across(String words) {
        y += 38;
        line("l", 12, width() - 12, y, "");
        box("n", width() / 2, y, words, "s");
    }

    private void arrow(int from, int to, boolean dashed, String words) {
        y += 44;
        if (from == to) {
            box("p", from, y - 6, words, "");
            return;
        }
        int end = to > from ? to - 8 : to + 8;
        line("a", from, end, y, dashed ? " stroke-dasharray='6 4'" : "");
        int back = to > from ? to - 9 : to + 9;
        shapes.add(format("<path class='h' d='M%d %d L%d %d L%d %d Z'/>", to, y, back, y - 5, back, y + 5));
        String[] lines = words.split(" / ");
        for (int i = 0; i < lines.length; i++) {
            text("", (from + to) / 2, y - 8 - 17 * (lines.length - 1 - i), lines[i]);
        }
    }

    private void note(int x, String words) {
        y += 16;
        for (String line : words.split(" / ")) {
            y += 26;
            box("n", x, y - 4, line, "m");
        }
    }

    private void box(String kind, int x, int middle, String words, String style) {
        int half = Math.min(textWidth(words, style) / 2 + 10, x - 4);
        shapes.add(format(
                "<rect class='%s' x='%d' y='%d' width='%d' height='24' rx='5'/>",
                kind, x - half, middle - 12, 2 * half));
        text(style, x, middle + 5, words);
    }

    private void line(String kind, int from, int to, int at, String more) {
        shapes.add(format("<line class='%s' x1='%d' y1='%d' x2='%d' y2='%d'%s/>", kind, from, at, to, at, more));
    }

    private void text(String style, int x, int at, String words) {
        String escaped = words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
        shapes.add(format("<text class='%s' x='%d' y='%d'>%s</text>", style, x, at, escaped));
    }

    /** How wide a text is, about. */
    private static int textWidth(String words, String style) {
        double width = 0;
        for (int i = 0; i < words.length(); i++) {
            width += words.charAt(i) > 0x2e80 ? 14 : style.isEmpty() ? 7.5 : 8.2;
        }
        return (int) width;
    }

    private int width() {
        return 2 * FIRST + COLUMN_WIDTH * (columns.size() - 1);
    }

    private String whole() {
        int height = y + 34;
        StringBuilder svg = new StringBuilder(format(
                "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' width='%d' height='%d' role='img'>\n",
                width(), height, width(), height));
        svg.append(STYLE);
        svg.append(
                format("<rect class='p' x='0.5' y='0.5' width='%d' height='%d' rx='8'/>\n", width() - 1, height - 1));
        for (int x : columns.values()) {
            svg.append(format("<line class='l' x1='%d' y1='44' x2='%d' y2='%d'/>\n", x, x, height - 10));
        }
        shapes.forEach(shape -> svg.append(shape).append('\n'));
        return svg.append("</svg>\n").toString();
    }

    private static String format(String pattern, Object... values) {
        return String.format(Locale.ROOT, pattern, values);
    }
}
