package dev.lockstep.architecture;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/** The project on disk: its root and its modules, as the poms list them. */
final class Project {
    private Project() {}

    /** The folder that holds {@code .mvn}, at or above the working directory. */
    static Path root() {
        Path folder = Path.of("").toAbsolutePath();
        while (!Files.isDirectory(folder.resolve(".mvn"))) {
            folder = folder.getParent();
            if (folder == null) {
                throw new IllegalStateException(
                        "No .mvn folder at or above " + Path.of("").toAbsolutePath());
            }
        }
        return folder;
    }

    /** The modules of the root pom, as paths from the root, such as {@code testing/tck}. */
    static List<String> modules() {
        return texts(readPom(root().resolve("pom.xml")).getElementsByTagName("module"));
    }

    /** The modules of the root pom that have main code. */
    static List<String> modulesWithMainCode() {
        return modules().stream()
                .filter(module -> Files.isDirectory(root().resolve(module).resolve("src/main/java")))
                .toList();
    }

    /** The folders of all main code. */
    static List<Path> mainSources() {
        return modulesWithMainCode().stream()
                .map(module -> root().resolve(module).resolve("src/main/java"))
                .toList();
    }

    /** The main classes of some modules, without those that JMH generates. */
    static JavaClasses mainClasses(Collection<String> modules) {
        List<Path> folders = new ArrayList<>();
        for (String module : modules) {
            Path classes = root().resolve(module).resolve("target/classes");
            if (!Files.isDirectory(classes)) {
                throw new IllegalStateException("Module " + module + " has main code but is not compiled before these"
                        + " tests: add it to the dependencies of testing/architecture/pom.xml");
            }
            folders.add(classes);
        }
        return new ClassFileImporter()
                .withImportOption(location -> !location.contains("/jmh_generated/"))
                .importPaths(folders);
    }

    static Document readPom(Path pom) {
        try {
            return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(pom.toFile());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (ParserConfigurationException | SAXException e) {
            throw new IllegalStateException("Cannot read " + pom, e);
        }
    }

    /** The artifact ids of what a pom's users inherit: its dependencies that are neither test nor provided. */
    static List<String> runtimeDependencies(Document pom) {
        List<String> artifacts = new ArrayList<>();
        NodeList dependencies = pom.getElementsByTagName("dependency");
        for (int i = 0; i < dependencies.getLength(); i++) {
            Element dependency = (Element) dependencies.item(i);
            List<String> scope = texts(dependency.getElementsByTagName("scope"));
            // A plugin's own dependencies are the build's, not the users'.
            boolean inherited =
                    !"plugin".equals(dependency.getParentNode().getParentNode().getNodeName());
            if (inherited && !scope.contains("test") && !scope.contains("provided")) {
                artifacts.addAll(texts(dependency.getElementsByTagName("artifactId")));
            }
        }
        return artifacts;
    }

    /** The artifacts that users get: those of the core, the backends, the integrations, the console, the contract and the test kit. */
    static List<String> published() {
        return modules().stream()
                .filter(module ->
                        module.matches("core|backends/.*|integrations/.*|tools/console|testing/tck|testing/test"))
                .map(module -> "lockstep-" + module.substring(module.indexOf('/') + 1))
                .toList();
    }

    static List<String> texts(NodeList nodes) {
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < nodes.getLength(); i++) {
            texts.add(nodes.item(i).getTextContent().strip());
        }
        return texts;
    }
}
