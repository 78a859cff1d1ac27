package dev.lockstep.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Both languages say the same. */
class PairsTest {
    /** Code is code in every language; a block without one of these is a drawing or output, and may be translated. */
    private static final Set<String> CODE =
            Set.of("java", "kotlin", "kts", "groovy", "sh", "xml", "sql", "properties", "yaml", "lua");

    @TestFactory
    Stream<DynamicTest> everyPageSaysTheSameInBothLanguages() throws IOException {
        return Guide.pairs().stream()
                .map(pair -> DynamicTest.dynamicTest(
                        pair.english(), () -> compare(Guide.page(pair.english()), Guide.page(pair.chinese()))));
    }

    @Test
    void noChinesePageIsWithoutItsEnglishOne() throws IOException {
        List<String> expected = Guide.pairs().stream().map(Guide.Pair::chinese).toList();
        for (Path file : Guide.pages(Guide.root().resolve("docs/zh"))) {
            assertThat(expected).contains(Guide.root().relativize(file).toString());
        }
    }

    private static void compare(Page english, Page chinese) throws IOException {
        assertThat(levels(chinese)).as("levels of headings").isEqualTo(levels(english));
        assertThat(code(chinese)).as("code blocks").isEqualTo(code(english));
        assertThat(shape(chinese)).as("rows of tables").isEqualTo(shape(english));
        assertThat(links(chinese)).as("links").isEqualTo(links(english));
        assertThat(words(chinese)).as("words of code").isEqualTo(words(english));
    }

    private static List<Integer> levels(Page page) {
        return page.headings().stream().map(Page.Heading::level).toList();
    }

    private static List<Page.Block> code(Page page) {
        return page.blocks().stream()
                .map(block -> CODE.contains(block.language()) ? block : new Page.Block(block.language(), ""))
                .toList();
    }

    /** The quoted code in the text: names, values and commands, which have no translation. */
    private static Set<String> words(Page page) throws IOException {
        String prose =
                Files.readString(page.file()).replaceAll("(?s)```.*?```", "").replaceAll("\\s+", " ");
        return new TreeSet<>(Page.spans(prose));
    }

    /** How many cells each row has, and the code in the first of them, in any order. */
    private static List<String> shape(Page page) {
        return page.rows().stream()
                .map(row -> row.size() + " "
                        + Page.spans(row.get(0)).stream().sorted().toList())
                .toList();
    }

    /** The links of a page as they would be in English, sorted, since sentences have another order in Chinese. */
    private static List<String> links(Page page) throws IOException {
        List<String> links = new ArrayList<>();
        for (String link : page.links()) {
            links.add(Page.isExternal(link) ? link : inEnglish(page, link));
        }
        return links.stream().sorted().toList();
    }

    private static String inEnglish(Page page, String link) throws IOException {
        Path target = page.target(link);
        String path = Guide.root().relativize(target).toString();
        // The switch from each language to the other is the one link that differs.
        String english = path.replaceFirst("^docs/zh/", "docs/")
                .replaceFirst("\\.zh\\.(svg|png)$", ".$1")
                .replace("README.zh-CN.md", "README.md");
        int hash = link.indexOf('#');
        if (hash < 0 || !Files.isRegularFile(target)) {
            return english;
        }
        return english + "#" + Page.read(target).indexOf(link.substring(hash + 1));
    }
}
