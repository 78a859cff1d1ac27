package dev.lockstep.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A Markdown page, taken apart.
 *
 * @param file where it is
 * @param headings its headings in order
 * @param blocks its fenced code blocks in order
 * @param links the targets of its links and images in order
 * @param tables its tables in order, each as its rows, the head first, and each row as its cells
 */
record Page(
        Path file, List<Heading> headings, List<Block> blocks, List<String> links, List<List<List<String>>> tables) {
    private static final Pattern FENCE = Pattern.compile("^\\s*```(\\S*).*$");
    private static final Pattern HEADING = Pattern.compile("^(#{1,6})\\s+(.*?)\\s*#*$");
    private static final Pattern LINK =
            Pattern.compile("\\[[^\\]]*]\\(\\s*<?([^)>\\s]+)>?[^)]*\\)|^\\[[^\\]]+]:\\s*(\\S+)");
    private static final Pattern CODE_SPAN = Pattern.compile("`[^`]*`");
    private static final Pattern EXTERNAL = Pattern.compile("^[a-zA-Z][a-zA-Z0-9+.-]*:.*");

    /**
     * A heading.
     *
     * @param level 1 to 6
     * @param anchor what GitHub calls it in links
     */
    record Heading(int level, String anchor) {}

    /**
     * A fenced code block.
     *
     * @param language what stands behind the fence; empty if nothing does
     * @param text its lines, without the indentation that they share
     */
    record Block(String language, String text) {}

    static Page read(Path file) throws IOException {
        Page page = new Page(file, new ArrayList<>(), new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        Map<String, Integer> anchors = new HashMap<>();
        StringBuilder code = null;
        String language = "";
        boolean inTable = false;
        for (String line : Files.readAllLines(file)) {
            Matcher fence = FENCE.matcher(line);
            if (code == null) {
                if (fence.matches()) {
                    code = new StringBuilder();
                    language = fence.group(1);
                } else {
                    page.readProse(line, anchors);
                    page.readRow(line, inTable);
                }
            } else if (fence.matches()) {
                page.blocks.add(
                        new Block(language, code.toString().stripTrailing().stripIndent()));
                code = null;
            } else {
                code.append(line).append('\n');
            }
            inTable = line.startsWith("|");
        }
        if (code != null) {
            throw new IllegalStateException(file + ": a code block does not end");
        }
        return page;
    }

    private void readProse(String line, Map<String, Integer> anchors) {
        Matcher heading = HEADING.matcher(line);
        if (heading.matches()) {
            String anchor = anchor(heading.group(2));
            int before = anchors.merge(anchor, 1, Integer::sum) - 1;
            headings.add(new Heading(heading.group(1).length(), before == 0 ? anchor : anchor + "-" + before));
        }
        Matcher link = LINK.matcher(CODE_SPAN.matcher(line).replaceAll(""));
        while (link.find()) {
            links.add(link.group(1) != null ? link.group(1) : link.group(2));
        }
    }

    private void readRow(String line, boolean inTable) {
        if (line.startsWith("|") && !line.matches("[|: -]+")) {
            if (!inTable) {
                tables.add(new ArrayList<>());
            }
            String cells = line.strip().replaceAll("^\\||\\|$", "");
            tables.get(tables.size() - 1)
                    .add(List.of(cells.split("(?<!\\\\)\\|", -1)).stream()
                            .map(String::strip)
                            .toList());
        }
    }

    /** The anchor that GitHub gives to a heading. */
    private static String anchor(String heading) {
        return heading.replaceAll("\\[([^\\]]*)]\\([^)]*\\)", "$1")
                .toLowerCase(Locale.ROOT)
                .replaceAll("[^\\p{L}\\p{N}_ -]", "")
                .replace(' ', '-');
    }

    /** The code in a text, without its quotes. */
    static List<String> spans(String text) {
        return CODE_SPAN
                .matcher(text)
                .results()
                .map(span -> span.group().replace("`", ""))
                .toList();
    }

    static boolean isExternal(String link) {
        return EXTERNAL.matcher(link).matches();
    }

    /** The file to which a link to another file of the project leads. */
    Path target(String link) {
        String path = link.replaceFirst("#.*", "");
        return path.isEmpty() ? file : file.resolveSibling(path).normalize();
    }

    /** The place of an anchor among the headings: 0 for the first; -1 if there is none of that name. */
    int indexOf(String anchor) {
        return headings.stream().map(Heading::anchor).toList().indexOf(anchor);
    }

    /** The rows of all tables in order, with their heads. */
    List<List<String>> rows() {
        return tables.stream().flatMap(List::stream).toList();
    }

    /** The rows of the one table whose head begins with a text, without the head. */
    List<List<String>> table(String head) {
        List<List<List<String>>> found = tables.stream()
                .filter(table -> table.get(0).get(0).equals(head))
                .toList();
        if (found.size() != 1) {
            throw new IllegalStateException(file + ": " + found.size() + " tables begin with '" + head + "'");
        }
        return found.get(0).subList(1, found.get(0).size());
    }
}
