package dev.lockstep.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The links of pages to each other and to other files of the project. Links to the world are not followed. */
final class Links {
    private Links() {}

    /** The mistakes in the links of some pages, a line for each: {@code page: link}. */
    static List<String> broken(Path root, List<Path> files) throws IOException {
        List<String> broken = new ArrayList<>();
        for (Path file : files) {
            Page page = Page.read(file);
            for (String link : page.links()) {
                if (!Page.isExternal(link) && !resolves(page, link)) {
                    broken.add(root.relativize(file) + ": " + link);
                }
            }
        }
        return broken;
    }

    private static boolean resolves(Page page, String link) throws IOException {
        Path target = page.target(link);
        int hash = link.indexOf('#');
        if (!Files.exists(target)) {
            return false;
        }
        return hash < 0 || Page.read(target).indexOf(link.substring(hash + 1)) >= 0;
    }
}
