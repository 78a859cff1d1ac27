package dev.lockstep.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The texts of the page, and its files. */
class DictionariesTest {
    private static final Path WEB = Path.of("src/main/resources/dev/lockstep/console/web");
    private static final Pattern ENTRY = Pattern.compile("\"([\\w.]+)\": \"((?:[^\"\\\\]|\\\\.)*)\"");
    private static final Pattern USE =
            Pattern.compile("(?:\\bt|text|parts|empty|header|total)\\(\"([\\w.]+)\"|data-(?:text|label)=\"([\\w.]+)\"");
    private static final Pattern PLACE = Pattern.compile("\\{\\w+\\}");

    private static Map<String, String> dictionary(String file) throws IOException {
        Map<String, String> texts = new LinkedHashMap<>();
        Matcher matcher = ENTRY.matcher(Files.readString(WEB.resolve(file)));
        while (matcher.find()) {
            assertThat(texts.put(matcher.group(1), matcher.group(2)))
                    .as(matcher.group(1))
                    .isNull();
        }
        return texts;
    }

    private static Set<String> places(String text) {
        Set<String> found = new TreeSet<>();
        PLACE.matcher(text).results().forEach(place -> found.add(place.group()));
        return found;
    }

    @Test
    void bothLanguagesSayTheSame() throws IOException {
        Map<String, String> english = dictionary("en.js");
        Map<String, String> chinese = dictionary("zh.js");
        assertThat(english).hasSizeGreaterThan(100);
        assertThat(chinese.keySet()).containsExactlyElementsOf(english.keySet());
        english.forEach((key, text) ->
                assertThat(places(chinese.getOrDefault(key, ""))).as(key).isEqualTo(places(text)));
    }

    @Test
    void everyTextThatIsUsedExists() throws IOException {
        Set<String> used = new TreeSet<>();
        try (Stream<Path> files = Files.list(WEB)) {
            for (Path file : files.toList()) {
                Matcher matcher = USE.matcher(Files.readString(file));
                while (matcher.find()) {
                    used.add(matcher.group(1) == null ? matcher.group(2) : matcher.group(1));
                }
            }
        }
        used.removeIf(key -> key.endsWith(".")); // followed by a kind
        assertThat(used).hasSizeGreaterThan(60);
        assertThat(dictionary("en.js").keySet()).containsAll(used);
    }

    @Test
    void theScriptsSetTextAsTextAndNothingElse() throws IOException {
        try (Stream<Path> files = Files.list(WEB)) {
            for (Path file : files.toList()) {
                assertThat(Files.readString(file))
                        .as(file.toString())
                        .doesNotContain(
                                "innerHTML",
                                "outerHTML",
                                "insertAdjacentHTML",
                                "document.write",
                                "eval(",
                                "javascript:")
                        .doesNotContain("new Function", "DOMParser", ".style.", "\"style\"");
            }
        }
    }

    @Test
    void everyFileOfTheFolderIsServedAndAllAreSmall() throws IOException {
        Assets assets = new Assets();
        long size = 0;
        try (Stream<Path> files = Files.list(WEB)) {
            for (Path file : files.toList()) {
                Console.Page page = assets.page(file.getFileName().toString());
                assertThat(page).as(file.toString()).isNotNull();
                size += Files.readString(file).getBytes(StandardCharsets.UTF_8).length;
            }
        }
        assertThat(size).isLessThan(150_000);
    }

    /** Without compression; the jar has nothing else. */
    @Test
    void theJarHasLessThan300KB() throws IOException {
        long size = 0;
        try (Stream<Path> files = Files.walk(Path.of("target/classes"))) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                size += Files.size(file);
            }
        }
        assertThat(size).isBetween(50_000L, 300_000L);
    }

    @Test
    void everyTextIsUsed() throws IOException {
        StringBuilder scripts = new StringBuilder();
        try (Stream<Path> files = Files.list(WEB)) {
            for (Path file : files.filter(file -> !file.toString().matches(".*/(en|zh)\\.js"))
                    .toList()) {
                scripts.append(Files.readString(file));
            }
        }
        String all = scripts.toString();
        Set<String> kinds = Set.of("nav.", "theme.", "mode.", "change."); // followed by what comes from data
        assertThat(dictionary("en.js").keySet())
                .allMatch(key -> all.contains('"' + key + '"')
                        || kinds.stream().anyMatch(key::startsWith)
                        || Set.of("blocker.deadlock", "blocker.cycle", "blocker.blocker")
                                .contains(key));
    }
}
