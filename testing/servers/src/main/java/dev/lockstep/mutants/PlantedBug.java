package dev.lockstep.mutants;

import dev.lockstep.servers.JavaProcess;
import dev.lockstep.temp.TempDirs;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.opentest4j.TestAbortedException;

/*
 * Overview. The changed file (a class, a script, a statement) is put into a folder of its own, compiled if it is Java, and
 * that folder goes in front of the class path of a second JVM, which runs the tests that must find the bug.
 *
 * A bug names the text that it changes, not a line or a file, and white space does not count, so it survives the formatter
 * and a move to another class. If the text is gone, the test says so: then the bug is planted again where the code went.
 */
/**
 * A mistake in the main sources of the module whose tests are running. Immutable.
 *
 * @param name what is wrong
 * @param right text that is in exactly one place of the sources or resources
 * @param wrong the text that replaces it
 * @param tests the tests that must find it: {@code TestClass: method, method}
 */
public record PlantedBug(String name, String right, String wrong, String tests) {
    /** More than the tests of any bug take on a busy machine; a run that is not over by then says nothing. */
    private static final Duration LIMIT = Duration.ofMinutes(5);

    /**
     * Runs the tests with the mistake.
     *
     * @return what failed; empty if the tests did not notice
     * @throws TestAbortedException if a test was skipped, for example because the machine lacks the server
     */
    public List<String> findings() {
        Path folder = folder();
        try {
            plant(folder);
            return run(folder, tests);
        } finally {
            delete(folder);
        }
    }

    /**
     * Runs the tests of some bugs without any mistake.
     *
     * @param bugs the bugs
     * @return what failed; must be empty, or the findings of the bugs mean nothing
     * @throws TestAbortedException if a test was skipped, for example because the machine lacks the server
     */
    public static List<String> findingsWithout(List<PlantedBug> bugs) {
        Path folder = folder();
        try {
            List<String> findings = new ArrayList<>();
            bugs.stream().map(PlantedBug::tests).distinct().forEach(tests -> findings.addAll(run(folder, tests)));
            return findings;
        } finally {
            delete(folder);
        }
    }

    /**
     * The file that has the text.
     *
     * @throws IllegalStateException if there is not exactly one place for the bug
     */
    Path place() {
        List<Path> places = new ArrayList<>();
        try (Stream<Path> files = Files.walk(sources())) {
            Pattern wanted = wanted();
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Matcher matcher = wanted.matcher(Files.readString(file));
                while (matcher.find()) {
                    places.add(file);
                }
            }
            if (places.size() != 1) {
                throw new IllegalStateException("The bug '" + name + "' can no longer be planted. The main sources must"
                        + " contain this once, not " + places.size() + " times:\n" + right);
            }
            return places.get(0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Path sources() {
        return Path.of(System.getProperty("basedir", "."), "src/main");
    }

    private Pattern wanted() {
        return Pattern.compile(
                Stream.of(right.strip().split("\\s+")).map(Pattern::quote).collect(Collectors.joining("\\s+")));
    }

    private void plant(Path folder) {
        Path file = place();
        try {
            String text = wanted().matcher(Files.readString(file)).replaceFirst(Matcher.quoteReplacement(wrong));
            if (file.toString().endsWith(".java")) {
                compile(Files.writeString(folder.resolve(file.getFileName()), text), folder);
            } else {
                Path target = folder.resolve(
                        sources().resolve("resources").relativize(file).toString());
                Files.createDirectories(target.getParent());
                Files.writeString(target, text);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void compile(Path source, Path folder) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter messages = new StringWriter();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            List<String> options = List.of(
                    "-proc:none", "-nowarn", "-cp", System.getProperty("java.class.path"), "-d", folder.toString());
            if (!compiler.getTask(messages, files, null, options, null, files.getJavaFileObjects(source))
                    .call()) {
                throw new IllegalStateException("The bug '" + name + "' does not compile:\n" + messages);
            }
        }
    }

    private static List<String> run(Path folder, String tests) {
        List<String> failed = new ArrayList<>();
        try (JavaProcess process = JavaProcess.startWith(List.of(folder), PlantedBugMain.class.getName(), tests)) {
            while (true) {
                String line = process.next(LIMIT);
                if (line.startsWith(PlantedBugMain.DONE)) {
                    return failed;
                }
                if (line.startsWith(PlantedBugMain.SKIPPED)) {
                    throw new TestAbortedException(line);
                }
                if (line.startsWith(PlantedBugMain.BROKEN)) {
                    throw new IllegalStateException(line);
                }
                if (line.startsWith(PlantedBugMain.FAILED)) {
                    failed.add(line);
                }
            }
        }
    }

    private static Path folder() {
        return TempDirs.create("planted-bug");
    }

    private static void delete(Path folder) {
        try {
            TempDirs.delete(folder);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
