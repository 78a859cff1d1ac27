package dev.lockstep.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The regions of Java and Kotlin files that the guide shows: what is between {@code // tag::name} and {@code // end::name}. */
final class Snippets {
    private static final Pattern REGION =
            Pattern.compile("^ *// tag::(\\S+)\\n(.*?)^ *// end::\\1$", Pattern.DOTALL | Pattern.MULTILINE);

    private Snippets() {}

    /** The text of each region, without the indentation that its lines share, and its name. */
    static Map<String, String> read(Path root) throws IOException {
        Map<String, String> found = new HashMap<>();
        List<Path> files = new ArrayList<>(Guide.files(root, ".java"));
        files.addAll(Guide.files(root, ".kt"));
        for (Path file : files) {
            Matcher region = REGION.matcher(Files.readString(file));
            while (region.find()) {
                found.put(region.group(2).stripTrailing().stripIndent(), region.group(1));
            }
        }
        return found;
    }
}
