package dev.lockstep.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The text is in plain words: it has none of the {@link Phrases}, except where an exception is named here. */
class PhrasesTest {
    /** Pages whose text is a command's output. */
    private static final List<String> LEFT_ALONE = List.of("docs/engines/steps/");

    /** Files whose text is the phrases themselves. */
    private static final List<String> LISTS = List.of(
            "testing/docs/src/test/java/dev/lockstep/docs/Phrases.java",
            "testing/docs/src/test/java/dev/lockstep/docs/PhrasesTest.java");

    /** The names of sources other than Java; scripts are read, too. */
    private static final Pattern SOURCES =
            Pattern.compile(".*\\.(lua|sql|kt|c|proto|js|mjs|vue|css|html|xml|ya?ml|properties)|.*metadata\\.json");

    /** Hidden folders with sources, which are not among the others. */
    private static final List<String> HIDDEN = List.of(".ci", ".github", "tools/site/.vitepress");

    /** Words that a file may keep: in a statement, a name. */
    private static final Map<String, List<String>> EXCEPTIONS =
            Map.of("backends/jdbc/src/main/java/dev/lockstep/jdbc/PostgresPush.java", List.of("told"));

    @Test
    void noPageHasAPhraseToAvoid() throws IOException {
        List<String> found = new ArrayList<>();
        for (Path file : Guide.pages(Guide.root())) {
            String path = path(file);
            if (LEFT_ALONE.stream().noneMatch(path::startsWith)) {
                found.addAll(found(path, Phrases.ofMarkdown(withoutExceptions(path, Files.readString(file)))));
            }
        }
        assertThat(found).isEmpty();
    }

    /** The same for comments, log lines and messages of main code and tests. */
    @Test
    void noCommentOrMessageHasAPhraseToAvoid() throws IOException {
        List<String> found = new ArrayList<>();
        for (Path file : Guide.files(Guide.root(), ".java")) {
            String path = path(file);
            if (!LISTS.contains(path)) {
                found.addAll(found(path, Phrases.ofJava(withoutExceptions(path, Files.readString(file)))));
            }
        }
        assertThat(found).isEmpty();
    }

    /** The same for scripts of databases and shells, the console, the site and settings. */
    @Test
    void noOtherSourceHasAPhraseToAvoid() throws IOException {
        List<Path> sources = sources();
        assertThat(sources)
                .extracting(PhrasesTest::path)
                .contains(".ci/run", "lockstep", "tools/console/src/main/resources/dev/lockstep/console/web/en.js");
        List<String> found = new ArrayList<>();
        for (Path file : sources) {
            String path = path(file);
            found.addAll(found(path, Phrases.ofSource(withoutExceptions(path, Files.readString(file)))));
        }
        assertThat(found).isEmpty();
    }

    private static List<Path> sources() throws IOException {
        List<Path> sources = new ArrayList<>();
        List<Path> folders = new ArrayList<>(List.of(Guide.root()));
        HIDDEN.forEach(folder -> folders.add(Guide.root().resolve(folder)));
        for (Path folder : folders) {
            for (Path file : Guide.files(folder, "")) {
                String name = file.getFileName().toString();
                if (SOURCES.matcher(name).matches() || isScript(file, name)) {
                    sources.add(file);
                }
            }
        }
        return sources;
    }

    private static boolean isScript(Path file, String name) throws IOException {
        if (name.contains(".") || !Files.isRegularFile(file)) {
            return false;
        }
        try (InputStream content = Files.newInputStream(file)) {
            return new String(content.readNBytes(2), StandardCharsets.ISO_8859_1).equals("#!");
        }
    }

    private static String path(Path file) {
        return Guide.root().relativize(file).toString().replace('\\', '/');
    }

    private static String withoutExceptions(String path, String content) {
        String text = content;
        for (String exception : EXCEPTIONS.getOrDefault(path, List.of())) {
            assertThat(text)
                    .as("an exception for " + path + " that is not needed")
                    .contains(exception);
            text = text.replace(exception, "");
        }
        return text;
    }

    private static List<String> found(String path, String text) {
        boolean chinese = path.startsWith("docs/zh/") || path.endsWith(".zh-CN.md") || path.endsWith("/zh.js");
        return Phrases.find(text, chinese ? Phrases.CHINESE : Phrases.ENGLISH).stream()
                .map(each -> path + ": " + each)
                .toList();
    }

    @Test
    void phrasesAreFoundInSentencesAndNotInCode() {
        String page = """
                # What happens to `what nobody` asks for
                The holder is
                told. See [the page](who-is-told.md). Who holds it? Who waits is served.
                ```java
                lock.told(); // for ever
                ```
                <!-- steps: redis -->
                1. A gives it back.
                <!-- end of steps -->
                """;
        assertThat(Phrases.find(Phrases.ofMarkdown(page), Phrases.ENGLISH))
                .satisfiesExactly(
                        first -> assertThat(first)
                                .contains("The holder is told.")
                                .contains("notified"),
                        second -> assertThat(second).contains("'Who waits is served.'"));
        assertThat(Phrases.find(Phrases.ofMarkdown("集群停止发锁。"), Phrases.CHINESE))
                .singleElement()
                .asString()
                .contains("授予锁");
    }

    @Test
    void phrasesAreFoundInCommentsAndMessages() {
        String source = """
                /**
                 * The lock is given
                 * back.
                 */
                class A {
                    String told = "waits for ever"; // swept later
                }
                """;
        assertThat(Phrases.find(Phrases.ofJava(source), Phrases.ENGLISH)).hasSize(3);
    }

    @Test
    void phrasesAreFoundInOtherSources() {
        String source = """
                -- The lock is for
                -- ever the holder's.
                local held = 1 -- also if it is
                """;
        assertThat(Phrases.find(Phrases.ofSource(source), Phrases.ENGLISH)).hasSize(2);
    }
}
