package dev.lockstep.release;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The project on disk. */
final class Project {
    private Project() {}

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

    /** The modules that are published, as paths from the root. The BOM has no parent, so nothing to opt in to. */
    static List<String> published() {
        return Xml.read(root().resolve("pom.xml")).texts("/project/modules/module").stream()
                .filter(module -> module.equals("bom")
                        || pom(module)
                                .text("/project/properties/maven.deploy.skip")
                                .equals("false"))
                .toList();
    }

    static Xml pom(String module) {
        return Xml.read(root().resolve(module).resolve("pom.xml"));
    }

    static String artifactId(String module) {
        return pom(module).text("/project/artifactId");
    }

    static String version() {
        return Xml.read(root().resolve("pom.xml")).text("/project/version");
    }
}
