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
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;

/**
 * How many tests were run and skipped, which and why, by the reports that Surefire and Failsafe left in all modules.
 *
 * <p>The last module prints it at the end of a build. After a build of some modules, {@code java} runs this file as it is:
 * it needs nothing but the JDK.
 */
final class TestSummary {
    private static final String BEFORE_THE_REASON = "^([\\w$]+(\\.[\\w$]+)+: )?(Assumption failed: )?";

    /** So many tests are named for each reason. Most that are skipped are parts of the contract, on several engines. */
    private static final int NAMED = 10;

    /** So many lines say how a test failed: what was expected and what came takes five. */
    private static final int LINES_OF_A_FAILURE = 6;

    private final Map<String, List<String>> skippedByReason = new TreeMap<>();
    private final List<String> failures = new ArrayList<>();
    private String suite = "";
    private String test = "";
    private int failed;
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
        Collections.sort(reports);
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
            case "testsuite" -> suite = simple(reader.getAttributeValue(null, "name"));
            case "testcase" -> {
                run++;
                test = name(reader.getAttributeValue(null, "classname"), reader.getAttributeValue(null, "name"));
            }
            case "failure", "error" -> {
                failed++;
                failures.add("           " + test + (suite.isEmpty() ? "" : " in " + suite));
                reader.getElementText()
                        .lines()
                        .filter(line -> !line.isBlank())
                        .limit(LINES_OF_A_FAILURE)
                        .forEach(line -> failures.add("             " + line.strip()));
            }
            case "skipped" -> {
                run--;
                skipped++;
                String message = reader.getAttributeValue(null, "message"); // of a test that is disabled
                String trace = reader.getElementText(); // of a test that found out that it cannot run
                skippedByReason
                        .computeIfAbsent(reason(message == null ? trace : message), any -> new ArrayList<>())
                        .add(test);
            }
            default -> {} // properties, output
        }
    }

    /** {@code Class.method}, without package and parameters. */
    private static String name(String className, String method) {
        return simple(className) + "." + (method == null ? "" : method.replaceFirst("[(\\[{ ].*", ""));
    }

    private static String simple(String className) {
        return className == null ? "" : className.substring(className.lastIndexOf('.') + 1);
    }

    private static String reason(String message) {
        String line = message.strip().lines().findFirst().orElse("no reason given");
        return line.replaceFirst(BEFORE_THE_REASON, "");
    }

    /**
     * The summary as text: the numbers, each reason with the number and names of the tests skipped for it, and how tests
     * failed.
     */
    List<String> lines() {
        List<String> lines = new ArrayList<>();
        String failedToo = failed == 0 ? "" : failed + " failed, ";
        lines.add(run + " tests run, " + failedToo + skipped + " skipped" + (skipped > 0 ? ":" : ""));
        skippedByReason.entrySet().stream()
                .sorted(Comparator.comparing(entry -> -entry.getValue().size()))
                .forEach(entry -> add(lines, entry.getKey(), entry.getValue()));
        if (failed > 0) {
            lines.add("%7d  failed".formatted(failed));
            lines.addAll(failures);
        }
        return lines;
    }

    private static void add(List<String> lines, String what, List<String> tests) {
        lines.add("%7d  %s".formatted(tests.size(), what));
        List<String> names = tests.stream().distinct().sorted().toList();
        names.stream().limit(NAMED).forEach(name -> lines.add("           " + name));
        if (names.size() > NAMED) {
            lines.add("           and %d more".formatted(names.size() - NAMED));
        }
    }
}
