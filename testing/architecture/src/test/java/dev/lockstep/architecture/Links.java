package dev.lockstep.architecture;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The links of Markdown pages to each other and to other files of the project. Links to the world are not followed. */
final class Links {
    private static final Pattern LINK =
            Pattern.compile("\\[[^\\]]*]\\(\\s*<?([^)>\\s]+)>?[^)]*\\)|^\\[[^\\]]+]:\\s*(\\S+)");
    private static final Pattern HEADING = Pattern.compile("^#{1,6}\\s+(.*?)\\s*#*$");
    private static final Pattern CODE_SPAN = Pattern.compile("`[^`]*`");
    private static final Pattern EXTERNAL = Pattern.compile("^[a-zA-Z][a-zA-Z0-9+.-]*:.*");

    private Links() {}

    /** The Markdown pages under a folder, without build output and hidden folders. */
    static List<Path> pages(Path root) throws IOException {
        try (Stream<Path> files = Files.walk(root)) {
            return files.filter(file -> file.toString().endsWith(".md"))
                    .filter(file -> Stream.of(root.relativize(file).toString().split("[/\\\\]"))
                            .noneMatch(part -> part.equals("target") || part.startsWith(".")))
                    .sorted()
                    .toList();
        }
    }

    /** What is wrong with the links of some pages, a line for each: {@code page: link}. */
    static List<String> broken(Path root, List<Path> pages) throws IOException {
        List<String> broken = new ArrayList<>();
        for (Path page : pages) {
            for (String link : links(page)) {
                if (!EXTERNAL.matcher(link).matches() && !resolves(page, link)) {
                    broken.add(root.relativize(page) + ": " + link);
                }
            }
        }
        return broken;
    }

    private static boolean resolves(Path page, String link) throws IOException {
        int hash = link.indexOf('#');
        String path = hash < 0 ? link : link.substring(0, hash);
        Path target = path.isEmpty() ? page : page.resolveSibling(path).normalize();
        if (!Files.exists(target)) {
            return false;
        }
        return hash < 0 || anchors(target).contains(link.substring(hash + 1));
    }

    private static List<String> links(Path page) throws IOException {
        List<String> links = new ArrayList<>();
        for (String line : prose(page)) {
            Matcher matcher = LINK.matcher(CODE_SPAN.matcher(line).replaceAll(""));
            while (matcher.find()) {
                links.add(matcher.group(1) != null ? matcher.group(1) : matcher.group(2));
            }
        }
        return links;
    }

    /** The anchors that GitHub gives to the headings of a page. */
    static Set<String> anchors(Path page) throws IOException {
        Set<String> anchors = new HashSet<>();
        Map<String, Integer> seen = new HashMap<>();
        for (String line : prose(page)) {
            Matcher heading = HEADING.matcher(line);
            if (heading.matches()) {
                String anchor = heading.group(1)
                        .replaceAll("\\[([^\\]]*)]\\([^)]*\\)", "$1")
                        .toLowerCase(Locale.ROOT)
                        .replaceAll("[^\\p{L}\\p{N}_ -]", "")
                        .replace(' ', '-');
                int before = seen.merge(anchor, 1, Integer::sum) - 1;
                anchors.add(before == 0 ? anchor : anchor + "-" + before);
            }
        }
        return anchors;
    }

    /** The lines of a page that are not code. */
    private static List<String> prose(Path page) throws IOException {
        List<String> prose = new ArrayList<>();
        boolean code = false;
        for (String line : Files.readAllLines(page)) {
            if (line.stripLeading().startsWith("```")) {
                code = !code;
            } else if (!code) {
                prose.add(line);
            }
        }
        return prose;
    }
}
