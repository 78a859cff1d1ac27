package dev.lockstep.docs;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;

/**
 * How many tests were run and skipped, and why, by the reports that Surefire and Failsafe left in all modules.
 *
 * <p>The last module prints it at the end of a build. After a build of some modules, {@code java} runs this file as it is:
 * it needs nothing but the JDK.
 */
final class TestSummary {
    private static final String BEFORE_THE_REASON = "^([\\w$]+(\\.[\\w$]+)+: )?(Assumption failed: )?";

    private final Map<String, Integer> reasons = new TreeMap<>();
    private int run;
    private int skipped;

    private TestSummary() {}

    /**
     * Prints the summary.
     *
     * @param args the folder of the project; and when the build began, so that older reports do not count
     */
    public static void main(String[] args) throws IOException {
        Path project = Path.of(args.length > 0 ? args[0] : "");
        Instant since = args.length > 1 ? Instant.parse(args[1]) : Instant.EPOCH;
        of(project, since).lines().forEach(System.out::println);
    }

    /** Reads all reports of a project that are not older than a moment. */
    static TestSummary of(Path project, Instant since) throws IOException {
        TestSummary summary = new TestSummary();
        for (Path report : reports(project.toAbsolutePath().normalize())) {
            if (!Files.getLastModifiedTime(report).toInstant().isBefore(since)) {
                summary.add(report);
            }
        }
        return summary;
    }

    private static List<Path> reports(Path project) throws IOException {
        List<Path> reports = new ArrayList<>();
        Files.walkFileTree(project, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
                Path parent = folder.resolveSibling("");
                boolean built = parent.endsWith("target");
                boolean wanted = folder.endsWith("surefire-reports") || folder.endsWith("failsafe-reports");
                boolean hidden = folder.getFileName() != null
                        && folder.getFileName().toString().startsWith(".");
                return (built && !wanted) || (hidden && !folder.equals(project)) || folder.endsWith("node_modules")
                        ? FileVisitResult.SKIP_SUBTREE
                        : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                if (file.getFileName().toString().matches("TEST-.*\\.xml")) {
                    reports.add(file);
                }
                return FileVisitResult.CONTINUE;
            }
        });
        return reports;
    }

    private void add(Path report) throws IOException {
        XMLInputFactory factory = XMLInputFactory.newDefaultFactory();
        factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        try (InputStream in = Files.newInputStream(report)) {
            XMLStreamReader reader = factory.createXMLStreamReader(in);
            while (reader.hasNext()) {
                if (reader.next() == XMLStreamConstants.START_ELEMENT) {
                    element(reader);
                }
            }
        } catch (XMLStreamException e) {
            throw new IOException("cannot read " + report, e);
        }
    }

    private void element(XMLStreamReader reader) throws XMLStreamException {
        switch (reader.getLocalName()) {
            case "testcase" -> run++;
            case "skipped" -> {
                run--;
                skipped++;
                String message = reader.getAttributeValue(null, "message"); // of a test that is disabled
                String trace = reader.getElementText(); // of a test that found out that it cannot run
                reasons.merge(reason(message == null ? trace : message), 1, Integer::sum);
            }
            default -> {} // properties, failures, output
        }
    }

    private static String reason(String message) {
        String line = message.strip().lines().findFirst().orElse("no reason given");
        return line.replaceFirst(BEFORE_THE_REASON, "");
    }

    /** The summary as text: the numbers, and each reason with the number of tests that were skipped for it. */
    List<String> lines() {
        List<String> lines = new ArrayList<>();
        lines.add(run + " tests run, " + skipped + " skipped" + (skipped > 0 ? ":" : ""));
        reasons.entrySet().stream()
                .sorted(Map.Entry.comparingByValue(Comparator.reverseOrder()))
                .forEach(reason -> lines.add("%7d  %s".formatted(reason.getValue(), reason.getKey())));
        return lines;
    }
}
