package dev.lockstep.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The pages of the project on disk. */
final class Guide {
    /** Pages for contributors, and reports of measurements: in English only. */
    private static final List<String> ENGLISH_ONLY = List.of(
            "docs/adr/",
            "docs/engines/steps/",
            "docs/benchmarks.md",
            "docs/proof.md",
            "docs/releasing.md",
            "docs/torture.md",
            "docs/write-a-backend.md");

    private Guide() {}

    /** The folder that holds {@code .mvn}, at or above the working directory. */
    static Path root() {
        Path folder = Path.of("").toAbsolutePath();
        while (!Files.isDirectory(folder.resolve(".mvn"))) {
            folder = folder.getParent();
            if (folder == null) {
                throw new IllegalStateException("No .mvn folder here or above");
            }
        }
        return folder;
    }

    static Page page(String path) throws IOException {
        return Page.read(root().resolve(path));
    }

    /** The Markdown pages under a folder; resources of programs are no pages, but parts from which pages are made. */
    static List<Path> pages(Path root) throws IOException {
        return files(root, ".md").stream()
                .filter(file -> !root.relativize(file).toString().contains("resources"))
                .toList();
    }

    /** The files under a folder whose names end so, without build output and what others have made. */
    static List<Path> files(Path root, String end) throws IOException {
        try (Stream<Path> files = Files.walk(root)) {
            return files.filter(file -> file.toString().endsWith(end))
                    .filter(file -> Stream.of(root.relativize(file).toString().split("[/\\\\]"))
                            .noneMatch(part ->
                                    part.equals("target") || part.equals("node_modules") || part.startsWith(".")))
                    .sorted()
                    .toList();
        }
    }

    /** The pages of users, each with its translation, which may be missing; from the root. */
    static List<Pair> pairs() throws IOException {
        List<Pair> pairs = new ArrayList<>();
        pairs.add(new Pair("README.md", "README.zh-CN.md"));
        for (Path file : pages(root().resolve("docs"))) {
            String path = root().relativize(file).toString().replace('\\', '/');
            if (!path.startsWith("docs/zh/") && !isEnglishOnly(path)) {
                pairs.add(new Pair(path, "docs/zh/" + path.substring("docs/".length())));
            }
        }
        return pairs;
    }

    /** Whether a page, by its path from the root, has no translation. */
    static boolean isEnglishOnly(String path) {
        return ENGLISH_ONLY.stream().anyMatch(path::startsWith);
    }

    /**
     * A page in two languages, as paths from the root.
     *
     * @param english the one
     * @param chinese the other
     */
    record Pair(String english, String chinese) {}
}
