package dev.lockstep.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** The text is in plain words: it has none of the {@link Phrases}, except where an exception is named here. */
class PhrasesTest {
    /** Pages that are not yet in plain words; take a page away when it is rewritten. */
    private static final Set<String> NOT_YET = Set.of(
            "docs/coming-from.md",
            "docs/dependencies.md",
            "docs/migrating.md",
            "docs/observability.md",
            "docs/reference.md",
            "docs/releasing.md",
            "docs/spring.md",
            "docs/testing.md",
            "docs/zh/coming-from.md",
            "docs/zh/dependencies.md",
            "docs/zh/migrating.md",
            "docs/zh/observability.md",
            "docs/zh/reference.md",
            "docs/zh/spring.md",
            "docs/zh/testing.md");

    /** Folders whose text has another reason to stay: decisions are not rewritten, and steps are a command's output. */
    private static final List<String> LEFT_ALONE = List.of("docs/adr/", "docs/engines/steps/");

    /** Words that a page may keep, each with its reason. */
    private static final Map<String, List<String>> EXCEPTIONS = Map.of();

    @Test
    void noPageHasAPhraseToAvoid() throws IOException {
        List<String> found = new ArrayList<>();
        for (Path file : Guide.pages(Guide.root().resolve("docs"))) {
            String path = Guide.root().relativize(file).toString().replace('\\', '/');
            if (!NOT_YET.contains(path) && LEFT_ALONE.stream().noneMatch(path::startsWith)) {
                found.addAll(found(path, Files.readString(file)));
            }
        }
        assertThat(found).isEmpty();
    }

    private static List<String> found(String path, String page) {
        String text = page;
        for (String exception : EXCEPTIONS.getOrDefault(path, List.of())) {
            assertThat(text)
                    .as("an exception for " + path + " that is not needed")
                    .contains(exception);
            text = text.replace(exception, "");
        }
        List<Phrases.Phrase> phrases = path.startsWith("docs/zh/") ? Phrases.CHINESE : Phrases.ENGLISH;
        return Phrases.find(Phrases.ofMarkdown(text), phrases).stream()
                .map(each -> path + ": " + each)
                .toList();
    }

    @Test
    void everyPageThatIsNotYetInPlainWordsExists() {
        assertThat(NOT_YET)
                .allSatisfy(page -> assertThat(Guide.root().resolve(page)).exists());
    }

    /** The same for comments, log lines and messages. Not part of the build until they are rewritten. */
    @Test
    @EnabledIfSystemProperty(named = "docs.phrases.java", matches = "true")
    void noCommentOrMessageHasAPhraseToAvoid() throws IOException {
        List<String> found = new ArrayList<>();
        for (Path file : Guide.files(Guide.root(), ".java")) {
            String path = Guide.root().relativize(file).toString().replace('\\', '/');
            if (path.contains("/src/main/")) {
                Phrases.find(Phrases.ofJava(Files.readString(file)), Phrases.ENGLISH)
                        .forEach(each -> found.add(path + ": " + each));
            }
        }
        assertThat(found).isEmpty();
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
}
